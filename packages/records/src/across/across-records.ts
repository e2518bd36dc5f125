import { limitsOf, turn } from '@bursar/base'
import { contractLimits, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { positionId } from '../position.ts'
import type {
  AcrossPage,
  AcrossPlace,
  AcrossRecord,
  AcrossRecords,
  ByTerm,
} from '../records/across.ts'
import { bytes, type NamedRow, optionalWhole, text, whole } from '../row.ts'
import { customerId } from '../schema/customers.ts'
import { isLive } from '../schema/tables.ts'
import { compareListed, type Seals } from '../sealing/seals.ts'
import type { Reads } from '../session.ts'
import { StoreDamaged } from '../unavailable.ts'
import { countRecords } from './count-records.ts'
import { AFTER_DIGITS, nextPlace, placesByTerm, placesInOrder } from './places.ts'

const limits = limitsOf({
  /**
   * Steps of a list of all customers: a page is shorter where more rows lie between its records.
   */
  acrossStepsMax: 6,
})

type OpenListed = Pick<Seals, 'open'>

/**
 * Reads pages of all customers. An index gives the places of the records, and then their bodies are
 * read by their ids. A record that changes in between is shown as it is then.
 */
export function openAcross(
  reads: Reads,
  dialect: Dialect,
  resource: Resource,
  seals: OpenListed,
): AcrossRecords {
  const placed = async (places: readonly AcrossPlace[]): Promise<readonly AcrossRecord[]> => {
    const bodies = await readListed(reads, dialect, resource, seals, places.map(idOf))
    return places.flatMap((place) => {
      const found = bodies.get(idOf(place))
      return found === undefined ? [] : [{ ...place, ...found }]
    })
  }
  return {
    listed: (ids) => readListed(reads, dialect, resource, seals, ids),
    count: (counting, deadline) => countRecords(reads, dialect, resource, { counting, deadline }),
    startsOf: async (term, owner) => {
      const found = new Set<string>()
      for (const status of resource.statuses) {
        let after = ''
        for (let step = 0; step < contractLimits.startsMax; step += 1) {
          const [row] = await reads.rows(
            nextPlace(resource, { term: term(status), customerId: owner, after }, dialect),
          )
          if (row === undefined) break
          const start = text(row, 'sort').replace(/ .*/, ' ')
          found.add(start)
          after = `${start}${AFTER_DIGITS}`
        }
      }
      return [...found].toSorted().slice(0, contractLimits.startsMax)
    },
    inOrder: async (selection) => {
      const { limit } = selection
      const rows = await reads.rows(placesInOrder(resource, selection, limit + 1, dialect))
      const places = rows.slice(0, limit).map((row) => placeOf(row, ''))
      const next = rows.length > limit ? places.at(-1) : undefined
      return { records: await placed(places), next }
    },
    byTerm: async (selection): Promise<AcrossPage> => {
      const { places, next } = await duePlaces(reads, dialect, resource, selection)
      return { records: await placed(places), next }
    },
  }
}

const idOf = ({ position }: AcrossPlace): string => positionId(position)

const placeOf = (row: NamedRow, start: string): AcrossPlace => ({
  position: bytes(row, 'position'),
  sort: text(row, 'sort').slice(start.length),
})

/**
 * The places of records that are listed by now. So many others may lie between them that a page
 * ends after some steps, with fewer records and a next page.
 */
async function duePlaces(
  reads: Reads,
  dialect: Dialect,
  resource: Resource,
  { limit, start, now, ...selection }: ByTerm,
) {
  const places: AcrossPlace[] = []
  let { after } = selection
  for (let step = 0; step < limits.acrossStepsMax; step += 1) {
    const rowsMax = step === 0 ? limit + 1 : recordsLimits.acrossRowsTogether
    const asked = { ...selection, limit, start, now, after }
    const rows = await reads.rows(placesByTerm(resource, asked, rowsMax, dialect))
    for (const row of rows) {
      const isDue = (optionalWhole(row, 'since') ?? now) <= now
      if (isDue && places.length === limit) return { places, next: places.at(-1) }
      after = placeOf(row, start)
      if (isDue) places.push(after)
    }
    if (rows.length < rowsMax) return { places, next: undefined }
    // A step takes some milliseconds, after which other requests have their turn.
    await turn()
  }
  return { places, next: after }
}

/** What lists show of live records, by their ids. */
async function readListed(
  { rows }: Reads,
  dialect: Dialect,
  resource: Resource,
  seals: OpenListed,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<AcrossRecord, 'customerId' | 'body'>>> {
  if (ids.length === 0) return new Map()
  const found = await rows({ text: listedBodies(resource, dialect), values: [dialect.list(ids)] })
  const listed = new Map<string, Pick<AcrossRecord, 'customerId' | 'body'>>()
  for (const row of found) {
    const [id, customerId, body] = [text(row, 'id'), text(row, 'customer_id'), text(row, 'body')]
    const stored = { customerId, id, body, checksum: Number(whole(row, 'checksum')) }
    const compared = await compareListed(resource, stored, seals)
    if (compared && 'fault' in compared)
      throw new StoreDamaged(`${resource.kind} ${id}: ${compared.fault}`)
    listed.set(id, { customerId, body })
  }
  return listed
}

export const listedBodies = (resource: Resource, dialect: Dialect): string => `
    select ${dialect.listedId.of('stored')} as id, ${customerId(dialect, 'stored.customer')} as customer_id,
      stored.body, stored.checksum
    from ${dialect.unnest('look_up', { id: 'uuid[]' })}
    join ${dialect.tableName(resource.table)} as stored on ${dialect.listedId.is('stored', 'look_up.id')}
    where ${isLive}`
