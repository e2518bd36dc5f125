import type { Customer } from './ledger.ts'

/** When each generation of a customer's records was imported, and when acknowledged. */
export type History = {
  /** The import of a generation starts, so answers may show it from now on. */
  begin(customer: Customer, generation: number): void
  acknowledge(customer: Customer, generation: number): void
  /** The import was rejected as a whole, so no answer may show it. */
  refuse(customer: Customer, generation: number): void
  /** The generations that the answer to a request may show, by its start and its end. */
  legal(customer: Customer, startedAt: number, endedAt: number): readonly number[]
  /** For how long a generation had been replaced by an acknowledged one at a time. */
  staleMs(customer: Customer, generation: number, at: number): number
  newest(customer: Customer): number
}

type Step = { generation: number; begunAt: number; acknowledgedAt: number; isRefused: boolean }

/** `staleMs`: how old the answer of a standby may be. */
export function openHistory(staleMs: number): History {
  const steps = new Map<Customer, Step[]>()
  const stepsOf = (customer: Customer): Step[] => {
    const known = steps.get(customer) ?? []
    steps.set(customer, known)
    return known
  }
  const stepOf = (customer: Customer, generation: number): Step => {
    const step = stepsOf(customer).find((one) => one.generation === generation)
    if (step === undefined) throw new Error(`no generation ${generation} of ${customer}`)
    return step
  }
  return {
    begin: (customer, generation) => {
      // Imported again, because the outcome of the first attempt is unknown.
      if (stepsOf(customer).some((step) => step.generation === generation)) return
      const begunAt = performance.now()
      const acknowledgedAt = Number.POSITIVE_INFINITY
      stepsOf(customer).push({ generation, begunAt, acknowledgedAt, isRefused: false })
    },
    acknowledge: (customer, generation) => {
      stepOf(customer, generation).acknowledgedAt = performance.now()
    },
    refuse: (customer, generation) => {
      stepOf(customer, generation).isRefused = true
    },
    legal: (customer, startedAt, endedAt) => {
      const all = stepsOf(customer)
      const settled = all.filter((step) => step.acknowledgedAt + staleMs < startedAt)
      const oldest = Math.max(...settled.map((step) => step.generation))
      return all
        .filter((step) => !step.isRefused && step.begunAt <= endedAt && step.generation >= oldest)
        .map((step) => step.generation)
    },
    staleMs: (customer, generation, at) => {
      const later = stepsOf(customer).filter((step) => step.generation > generation)
      return Math.max(0, ...later.map((step) => at - step.acknowledgedAt))
    },
    newest: (customer) =>
      Math.max(
        ...stepsOf(customer)
          .filter((step) => step.acknowledgedAt < Number.POSITIVE_INFINITY)
          .map((step) => step.generation),
      ),
  }
}
