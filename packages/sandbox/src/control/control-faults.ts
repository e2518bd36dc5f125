import { randomUUID } from 'node:crypto'
import { limitsOf, systemTime } from '@bursar/base'
import {
  type BodyInput,
  contractLimits,
  createSandboxFault,
  deleteSandboxFault,
  deleteSandboxFaults,
  faultKinds,
  type InjectedFault,
  type Interfere,
  invalidParameters,
  listSandboxFaults,
  noneFound,
  type OperatorWorks,
  type Problem,
  problem,
  problemOfStatus,
  tokenOperation,
} from '@bursar/contract'
import { expiredToken } from '@bursar/server'
import type { Customers } from './control-customers.ts'

const limits = limitsOf({
  /** Faults of one customer, and requests of one fault. A test plans a few. */
  sandboxFaultsMax: 100,
})

export type Fault = {
  readonly id: string
  readonly customerId: string
  readonly operation: string | undefined
  readonly kind: InjectedFault
  readonly status: number | undefined
  readonly retryAfter: number | undefined
  readonly delayMs: number | undefined
  readonly times: number
  readonly remaining: number
}

export type Faults = {
  readonly works: OperatorWorks
  readonly interfere: Interfere
  forget(customerId: string): void
  save(): readonly Fault[]
  restore(faults: readonly Fault[]): void
  /** Ends the delays that are running. */
  close(): void
}

export function openFaults(customers: Customers): Faults {
  // By customer, oldest first. A fault is replaced as its requests come.
  const waiting = new Map<string, Fault[]>()
  const closing = new AbortController()
  const all = () => [...waiting.values()].flat()
  const take = (customerId: string, operation: string): Fault | undefined => {
    const own = waiting.get(customerId) ?? []
    const at = own.findIndex((each) => meets(each, operation))
    const fault = own[at]
    if (fault === undefined) return undefined
    const left = { ...fault, remaining: fault.remaining - 1 }
    own.splice(at, 1, ...(left.remaining > 0 ? [left] : []))
    return fault
  }
  return {
    works: {
      [createSandboxFault.id]: async ({ body }) => {
        const fault = readFault(body)
        await customers.require(fault.customerId)
        const own = waiting.get(fault.customerId) ?? []
        if (own.length >= limits.sandboxFaultsMax) throw tooManyFaults()
        waiting.set(fault.customerId, [...own, fault])
        return { body: shown(fault) }
      },
      [listSandboxFaults.id]: async ({ parameters }) => {
        const customerId = parameters.get('customer_id')
        const found = typeof customerId === 'string' ? waiting.get(customerId) : all()
        const shownMax = contractLimits.sandboxFaultsListed
        return { body: { faults: (found ?? []).slice(0, shownMax).map(shown) } }
      },
      [deleteSandboxFault.id]: async ({ parameters }) => {
        const id = String(parameters.get('id'))
        const found = all().find((fault) => fault.id === id)
        if (found === undefined) throw noneFound('fault', id)
        const own = waiting.get(found.customerId) ?? []
        waiting.set(
          found.customerId,
          own.filter((fault) => fault.id !== id),
        )
        return {}
      },
      [deleteSandboxFaults.id]: async ({ parameters }) => {
        const customerId = parameters.get('customer_id')
        if (typeof customerId === 'string') waiting.delete(customerId)
        else waiting.clear()
        return {}
      },
    },
    interfere: async (operation, customer, trace) => {
      const fault = take(customer, operation)
      if (fault === undefined) return
      trace.fault = fault.kind
      if (fault.delayMs !== undefined) await delay(fault.delayMs, closing.signal)
      if (fault.kind === 'status') throw problemOf(fault)
      if (fault.kind === 'expired_token') throw expiredToken()
    },
    forget: (customerId) => void waiting.delete(customerId),
    save: all,
    restore: (faults) => {
      waiting.clear()
      for (const [customerId, own] of Map.groupBy(faults, (fault) => fault.customerId)) {
        waiting.set(customerId, own)
      }
    },
    close: () => closing.abort(),
  }
}

/** A fault without an operation spares the token endpoint: a test of a list needs a token. */
const meets = ({ operation }: Fault, requested: string): boolean =>
  operation === undefined ? requested !== tokenOperation : operation === requested

async function delay(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await systemTime.pause(ms, signal)
  } catch (error) {
    throw problem('unavailable', 'the sandbox is closing', { retryAfter: 1, cause: error })
  }
}

function problemOf({ status = 500, retryAfter = 1 }: Fault): Problem {
  return problemOfStatus(status, 'a fault that POST /sandbox/faults has asked for', {
    ...(mayRetryAfter(status) && { retryAfter }),
    // The real 408 ends its connection too.
    ...(status === 408 && { headers: { connection: 'close' } }),
  })
}

const mayRetryAfter = (status: number | undefined): boolean => status === 429 || status === 503

const tooManyFaults = (): Problem =>
  problem(
    'conflict',
    `the customer has ${limits.sandboxFaultsMax} faults; delete some with DELETE /sandbox/faults`,
  )

/** Which member each kind of fault needs, and which it may have besides. */
function readFault(body: BodyInput): Fault {
  const kind = faultKinds.find((name) => name === body.get('kind')) ?? 'status'
  const number = (member: string) => {
    const text = body.get(member)
    return text === undefined ? undefined : Number(text)
  }
  const [status, delayMs] = [number('status'), number('delay_ms')]
  if (kind === 'status' && status === undefined) throw missing('status')
  if (kind === 'delay' && delayMs === undefined) throw missing('delay_ms')
  if (kind !== 'status' && status !== undefined) {
    throw conflicting('status', `must not be set for a fault of kind ${kind}`)
  }
  const retryAfter = number('retry_after')
  if (retryAfter !== undefined && !mayRetryAfter(status)) {
    throw conflicting('retry_after', 'must not be set without the status 429 or 503')
  }
  const operation = body.get('operation')
  if (kind === 'expired_token' && operation === tokenOperation) {
    throw conflicting('kind', `must not be expired_token for ${tokenOperation}, which takes none`)
  }
  const times = number('times') ?? 1
  return {
    id: randomUUID(),
    customerId: body.get('customer_id') ?? '',
    operation,
    kind,
    status,
    retryAfter,
    delayMs,
    times,
    remaining: times,
  }
}

const missing = (parameter: string): Problem =>
  invalidParameters([{ parameter, code: 'missing', reason: 'must be set for this kind' }])

const conflicting = (parameter: string, reason: string): Problem =>
  invalidParameters([{ parameter, code: 'conflicting', reason }])

const shown = (fault: Fault) => ({
  id: fault.id,
  customer_id: fault.customerId,
  operation: fault.operation,
  kind: fault.kind,
  status: fault.status,
  retry_after: fault.retryAfter,
  delay_ms: fault.delayMs,
  times: fault.times,
  remaining: fault.remaining,
})
