import type { Resource } from '../../contract/resource.ts'
import type { PutOutcome } from '../records/put.ts'
import type { OperatorRecords } from '../records.ts'
import type { DamageList } from './damage.ts'

/**
 * The operator's records by the policy of the customers' records: while damage of a kind is known,
 * its lists and its unknown ids are refused.
 */
export function intactOperator(records: OperatorRecords, damage: DamageList): OperatorRecords {
  const { requireNone } = damage
  const getting = async <T>({ kind }: Resource, read: () => Promise<T>): Promise<T> => {
    const found = await damage.reading(kind, read)
    if (found === undefined) requireNone(kind)
    return found
  }
  /** The list may be cut short by damage, so the kind is checked before and after the read. */
  const listing = async <T>({ kind }: Resource, read: () => Promise<T>): Promise<T> => {
    requireNone(kind)
    const found = await damage.reading(kind, read)
    requireNone(kind)
    return found
  }
  return {
    ...records,
    find: (resource, ...name) => getting(resource, () => records.find(resource, ...name)),
    findAsOf: async (resource, ...asked) => {
      const past = await getting(resource, () => records.findAsOf(resource, ...asked))
      if (past?.found === undefined) requireNone(resource.kind)
      return past
    },
    pageAsOf: (resource, ...asked) => listing(resource, () => records.pageAsOf(resource, ...asked)),
    history: (resource, ...asked) => listing(resource, () => records.history(resource, ...asked)),
    search: async (...query) => {
      for (const { kind } of damage.found()) requireNone(kind)
      return await records.search(...query)
    },
    async *exportLines(resource, customerId) {
      const { kind } = resource
      requireNone(kind)
      const lines = () => records.exportLines(resource, customerId)
      try {
        yield* lines()
      } catch (error) {
        const again = async () => {
          for await (const _ of lines()) return
        }
        await damage.reading(kind, () => Promise.reject(error), again)
      }
      requireNone(kind)
    },
    put: async (resource, request) => {
      const { kind } = resource
      const outcome = await damage.reading(
        kind,
        () => records.put(resource, request),
        () => records.rows.after(resource, undefined, 1),
      )
      if (isMiss(outcome)) requireNone(kind)
      return outcome
    },
  }
}

/** Whether a request was refused because there is no current record with its id. */
const isMiss = (outcome: PutOutcome): boolean =>
  outcome.outcome === 'missing' ||
  (outcome.outcome === 'unmatched' && outcome.version === undefined)
