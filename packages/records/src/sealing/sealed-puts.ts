import { isSealedKind, type Resource } from '@bursar/contract'
import type { StorableRecord } from '../records/import.ts'
import type { PutOutcome, SealedPut } from '../records/put.ts'
import type { OperatorRecords } from '../records.ts'
import { KeysReplaced } from '../unavailable.ts'
import type { Seals } from './seals.ts'

type Deps = {
  readonly put: (resource: Resource, request: SealedPut) => Promise<PutOutcome>
  readonly seals: Pick<Seals, 'seal' | 'forget' | 'hasOlderKeys'>
  /** Brings a stored record to the current key of its customer, so that it can be compared. */
  readonly renew: (resource: Resource, customerId: string, id: string) => Promise<void>
  /** Whether the stored body of a record opens. */
  readonly isIntact: (resource: Resource, record: StorableRecord) => Promise<boolean>
}

/** An erasure or a rotation replaces a key; another one right after it is not expected. */
const TRIES = 3

/**
 * Seals single records before they wait for their batch. Seals a record again if the key of its
 * customer was replaced meanwhile. A record whose content is stored, but whose body is damaged,
 * replaces it.
 */
export const sealingPuts =
  ({ put, seals, renew, isIntact }: Deps): OperatorRecords['put'] =>
  async (resource, request) => {
    const { record, ...rest } = request
    if ('withdraws' in record) return await put(resource, { ...rest, record })
    for (let tries = 1; ; tries += 1) {
      const sealed = await seals.seal(resource, record)
      if (seals.hasOlderKeys(record.customerId)) await renew(resource, record.customerId, record.id)
      try {
        const outcome = await put(resource, { ...rest, record: sealed })
        if (outcome.outcome !== 'unchanged' || !isSealedKind(resource)) return outcome
        if (await isIntact(resource, record)) return outcome
        return await put(resource, { ...rest, record: { ...sealed, mends: true } })
      } catch (error) {
        if (!(error instanceof KeysReplaced) || tries === TRIES) throw error
        seals.forget(record.customerId)
      }
    }
  }
