import type { Tenant } from '../../contract/principal.ts'
import type { ListView, Resource, View } from '../../contract/resource.ts'
import type { Page, Revision, Selection } from '../records/page.ts'
import type { CustomerRecords } from '../records.ts'
import { StoreCorrupted, StoreDamaged } from '../unavailable.ts'
import { bodyChecksum } from './checksum.ts'
import type { DamageList } from './damage.ts'
import { damagedIds, type PageChecksums } from './page-checksums.ts'

/** What an adapter reads, unverified. Rejects with a StoreDamaged where it cannot read. */
export type ReadRecords = {
  get(tenant: Tenant, view: View, id: string, includeDeleted: boolean): Promise<ReadBody>
  /** Adds the checksums of the page's bodies if they are asked for, and the page is not empty. */
  page(
    tenant: Tenant,
    view: ListView,
    selection: Selection,
    options: { readonly withChecksums: boolean },
  ): Promise<UnverifiedPage & { readonly checksums?: PageChecksums | undefined }>
  /** When a record of the tenant and kind last changed, as its pages say it. */
  changedAt(tenant: Tenant, resource: Resource): Promise<bigint>
}

export type UnverifiedPage = Omit<Page, 'revision'> & Pick<Revision, 'changedAt'>

export type ReadBody = { readonly body: string | Buffer; readonly checksum: number } | undefined

/**
 * Answers nothing that is known to be damaged. A get verifies its checksum. Once the database has
 * reported a damaged table or index, what it does not find may be there: misses and lists of that
 * kind are refused until a check has passed. A page does so only
 * while a record of its kind is known to be damaged, because that doubles the work of a page; the
 * scan finds the first one (docs/decisions/0050-stored-bodies-have-checksums.md).
 */
export function verifiedRecords(records: ReadRecords, damage: DamageList): CustomerRecords {
  const isIntact = (tenant: Tenant, read: ReadBody) =>
    read === undefined || bodyChecksum(tenant, read.body) === read.checksum
  const requireUnmarked = (kind: string) => {
    const marked = damage.errorOfKind(kind)
    if (marked !== undefined) throw marked
  }
  return {
    async get(tenant, view, id, includeDeleted) {
      const { kind } = view.resource
      const record = { customerId: tenant, kind, id }
      const again = () => records.get(tenant, view, id, includeDeleted)
      const isMended = async () => isIntact(tenant, await again())
      const read = await again().catch((error: unknown) => {
        throw noted(damage, record, error, isMended)
      })
      // The full record of a known pair may be missing, which reads as an unknown id, and so does a
      // record that a damaged index does not find.
      const known =
        read === undefined
          ? (damage.errorOf(tenant, kind, id) ?? damage.errorOfKind(kind))
          : undefined
      if (known !== undefined) throw known
      if (isIntact(tenant, read)) return read === undefined ? undefined : String(read.body)
      throw damage.note({ ...record, fault: MISMATCH }, isMended)
    },

    async page(tenant, view, selection) {
      const { kind } = view.resource
      const metBefore = damage.metIn(kind)
      requireUnmarked(kind)
      const withChecksums = damage.hasKind(kind)
      const again = () => records.page(tenant, view, selection, { withChecksums: true })
      const { checksums, changedAt, ...read } = await records
        .page(tenant, view, selection, { withChecksums })
        .catch((error: unknown) => {
          throw noted(damage, { kind }, error, async () => {
            const read = await again()
            read.release?.()
            return true
          })
        })
      const page = { ...read, revision: { changedAt, damageMet: metBefore } }
      // Another request may have met damage meanwhile.
      const marked = damage.errorOfKind(kind)
      if (marked !== undefined) {
        page.release?.()
        throw marked
      }
      if (checksums === undefined) return page
      const [first, ...others] = damagedIds(tenant, page.items, checksums)
      if (first === undefined) return page
      page.release?.()
      for (const id of others) noteBody(id)
      throw noteBody(first)

      function noteBody(id: string) {
        return damage.note({ customerId: tenant, kind, id, fault: MISMATCH }, async () => {
          const read = await again()
          read.release?.()
          return (
            read.checksums === undefined ||
            damagedIds(tenant, read.items, read.checksums).length === 0
          )
        })
      }
    },

    /**
     * It counts the damage that reads of the kind have found, since earlier pages may show it. Each
     * process counts by itself, so until all have met the same damage their entity tags of the kind
     * differ. That costs a whole page in place of a 304; an equal tag could confirm a damaged copy.
     */
    async revision(tenant, resource) {
      const { kind } = resource
      const metBefore = damage.metIn(kind)
      if (damage.hasKind(kind)) return undefined
      const again = () => records.changedAt(tenant, resource)
      const changedAt = await again().catch((error: unknown) => {
        throw noted(damage, { kind }, error, () => again().then(() => true))
      })
      return { changedAt, damageMet: metBefore }
    },
  }
}

const MISMATCH = 'its body does not match its checksum'

function noted(
  damage: DamageList,
  part: { readonly kind: string; readonly id?: string; readonly customerId?: string },
  error: unknown,
  isMended: () => Promise<boolean>,
): unknown {
  if (!(error instanceof StoreDamaged)) return error
  const fault = `the store cannot read it: ${error.message}`
  if (error instanceof StoreCorrupted) return damage.mark({ kind: part.kind, fault }, isMended)
  return damage.note({ ...part, fault }, isMended)
}
