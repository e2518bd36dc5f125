import type { Tenant } from '../../contract/principal.ts'
import { fullTable, type ListView, type Resource, type View } from '../../contract/resource.ts'
import type { LastChange, Page, Selection } from '../records/page.ts'
import type { PutOutcome } from '../records/put.ts'
import type { CustomerRecords, OperatorRecords } from '../records.ts'
import { openInClear, type Seals } from '../sealing/seals.ts'
import type { DamageList } from './damage.ts'

/** What an adapter reads, not yet checked. Rejects with a StoreCorrupted if it cannot read. */
export type ReadRecords = {
  get(tenant: Tenant, view: View, id: string, includeDeleted: boolean): Promise<ReadBody>
  page(tenant: Tenant, view: ListView, selection: Selection): Promise<UncheckedPage>
  /** How a record of the tenant and kind last changed, as its pages say it. */
  lastChange(tenant: Tenant, resource: Resource): Promise<LastChange>
}

export type UncheckedPage = Omit<Page, 'revision'> & LastChange

type Found = { readonly body: string | Buffer; readonly checksum: number }

export type ReadBody = Found | undefined

/**
 * Answers nothing that is known to be damaged. A get compares its checksum. A list does not, which
 * would double its work: the scan finds damage. Once damage of a kind is known, its lists and its
 * unknown ids are refused until a check has passed
 * (docs/decisions/0050-stored-bodies-have-checksums.md).
 */
export function intactRecords(
  records: ReadRecords,
  damage: DamageList,
  { openOften }: Pick<Seals, 'openOften'>,
): Pick<CustomerRecords, 'get' | 'page' | 'revision'> {
  const opened = ({ resource, table }: View, tenant: Tenant, id: string, read: Found) => {
    const stored = { customerId: tenant, id, body: String(read.body), checksum: read.checksum }
    return table === fullTable(resource) ? openOften(resource, stored) : openInClear(stored)
  }
  return {
    async get(tenant, view, id, includeDeleted) {
      const { kind } = view.resource
      const again = () => records.get(tenant, view, id, includeDeleted)
      const read = await getting(damage, kind, again)
      if (read === undefined) return undefined
      const found = await opened(view, tenant, id, read)
      if ('body' in found) return found.body
      throw damage.note({ customerId: tenant, kind, id, fault: found.fault }, async () => {
        const now = await again()
        return now === undefined || 'body' in (await opened(view, tenant, id, now))
      })
    },

    async page(tenant, view, selection) {
      const { kind } = view.resource
      const damageMet = damage.metIn(kind)
      damage.requireNone(kind)
      const read = () => records.page(tenant, view, selection)
      const again = async () => (await read()).release?.()
      const { changedAt, salt, ...page } = await damage.reading(kind, read, again)
      // Another request may have found damage meanwhile.
      const known = damage.errorOf(kind)
      if (known === undefined) return { ...page, revision: { changedAt, salt, damageMet } }
      page.release?.()
      throw known
    },

    /**
     * It counts the damage that reads of the kind have found, since earlier pages may show it. Each
     * process counts by itself, so until all have found the same damage their entity tags of the
     * kind differ. That costs a whole page in place of a 304; an equal tag could confirm a damaged
     * copy.
     */
    async revision(tenant, resource) {
      const { kind } = resource
      const damageMet = damage.metIn(kind)
      damage.requireNone(kind)
      const last = await damage.reading(kind, () => records.lastChange(tenant, resource))
      return { ...last, damageMet }
    },
  }
}

/** Reads a record. It may be there if it is not found while damage of its kind is known. */
async function getting<T>(damage: DamageList, kind: string, read: () => Promise<T>): Promise<T> {
  const found = await damage.reading(kind, read)
  if (found === undefined) damage.requireNone(kind)
  return found
}

/**
 * The operator's records by the policy of the customers' records: while damage of a kind is known,
 * its lists and its unknown ids are refused.
 */
export function intactOperator(records: OperatorRecords, damage: DamageList): OperatorRecords {
  const { requireNone } = damage
  /** The list may be cut short by damage, so the kind is checked before and after the read. */
  const listing = async <T>({ kind }: Resource, read: () => Promise<T>): Promise<T> => {
    requireNone(kind)
    const found = await damage.reading(kind, read)
    requireNone(kind)
    return found
  }
  return {
    ...records,
    find: (resource, ...name) =>
      getting(damage, resource.kind, () => records.find(resource, ...name)),
    findAsOf: async (resource, ...asked) => {
      const past = await getting(damage, resource.kind, () => records.findAsOf(resource, ...asked))
      if (past?.found === undefined) requireNone(resource.kind)
      return past
    },
    pageAsOf: (resource, ...asked) => listing(resource, () => records.pageAsOf(resource, ...asked)),
    history: (resource, ...asked) => listing(resource, () => records.history(resource, ...asked)),
    update: (resource, ...asked) => listing(resource, () => records.update(resource, ...asked)),
    across: (resource) => {
      const across = records.across(resource)
      return {
        listed: (ids) => listing(resource, () => across.listed(ids)),
        count: (...asked) => listing(resource, () => across.count(...asked)),
        startsOf: (...asked) => listing(resource, () => across.startsOf(...asked)),
        inOrder: (selection) => listing(resource, () => across.inOrder(selection)),
        byTerm: (selection) => listing(resource, () => across.byTerm(selection)),
      }
    },
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
