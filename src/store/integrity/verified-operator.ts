import type { Resource } from '../../contract/resource.ts'
import type { OperatorRecords } from '../records.ts'
import { StoreCorrupted } from '../unavailable.ts'
import type { DamageList } from './damage.ts'

/**
 * The operator's records by the same policy as the customers': lists of a marked kind, and what is
 * not found in it, are refused. Every call that meets a damaged table marks the kind.
 */
export function verifiedOperator(records: OperatorRecords, damage: DamageList): OperatorRecords {
  const requireUnmarked = (kind: string) => {
    const marked = damage.errorOfKind(kind)
    if (marked !== undefined) throw marked
  }
  const noted = ({ kind }: Resource, error: unknown, isMended: () => Promise<unknown>): unknown => {
    if (!(error instanceof StoreCorrupted)) return error
    const fault = `the store cannot read it: ${error.message}`
    return damage.mark({ kind, fault }, () => isMended().then(() => true))
  }
  const reading = async <T>(resource: Resource, read: () => Promise<T>): Promise<T> => {
    const found = await read().catch((error: unknown) => {
      throw noted(resource, error, read)
    })
    if (found === undefined) requireUnmarked(resource.kind)
    return found
  }
  /** What is read is a list, which may be cut short. */
  const listing = async <T>(resource: Resource, read: () => Promise<T>): Promise<T> => {
    requireUnmarked(resource.kind)
    const found = await reading(resource, read)
    requireUnmarked(resource.kind)
    return found
  }
  return {
    ...records,
    find: (resource, ...name) => reading(resource, () => records.find(resource, ...name)),
    findAsOf: (resource, ...asked) =>
      reading(resource, async () => {
        const past = await records.findAsOf(resource, ...asked)
        if (past?.found === undefined) requireUnmarked(resource.kind)
        return past
      }),
    pageAsOf: (resource, ...asked) => listing(resource, () => records.pageAsOf(resource, ...asked)),
    history: (resource, ...asked) => listing(resource, () => records.history(resource, ...asked)),
    search: async (...query) => {
      for (const { kind } of damage.found()) requireUnmarked(kind)
      return await records.search(...query)
    },
    async *exportLines(resource, customerId) {
      requireUnmarked(resource.kind)
      try {
        yield* records.exportLines(resource, customerId)
      } catch (error) {
        throw noted(resource, error, async () => {
          for await (const _ of records.exportLines(resource, customerId)) return
        })
      }
      requireUnmarked(resource.kind)
    },
    put: (resource, request) =>
      records.put(resource, request).catch((error: unknown) => {
        throw noted(resource, error, () => records.rows.after(resource, undefined, 1))
      }),
  }
}
