import { type CustomerKey, digestOf, keyIdOf } from '@bursar/base'
import { isSealedKind, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { renewPrivateTerms } from '../records/terms.ts'
import { bytes, isTrue, type NamedRow, optionalText, text, whole } from '../row.ts'
import { addTerms, removeTerms } from '../schema/record-terms.ts'
import { isCurrent } from '../schema/tables.ts'
import type { Reads, Value } from '../session.ts'
import type { CustomerKeys } from './customer-keys.ts'
import { columnTypes, type Part } from './keyed-tables.ts'
import type { StoredBody } from './opened-bodies.ts'
import { inForm, keysFor, openWithAny } from './opening.ts'

/** The next rows of a customer after a place, a bounded number. */
export async function readRows(
  { rows }: Reads,
  { parameter }: Dialect,
  part: Part,
  customer: bigint,
  place: readonly string[],
): Promise<readonly NamedRow[]> {
  const names = part.columns.map((column) => `stored.${column}`).join(', ')
  const after = part.columns.map((column, at) => parameter(at + 3, columnTypes[column])).join(', ')
  const later = place.length === 0 ? '' : `and (${names}) > (${after})`
  return await rows({
    text: `select ${selected(part)} from ${part.table} as stored
      where stored.customer = ${parameter(1, 'integer')} ${part.condition} ${later}
      order by ${names} limit ${parameter(2, 'bigint')}`,
    values: [customer, recordsLimits.resealedTogether, ...valuesOf(part, place)],
  })
}

const selected = ({ id, columns }: Part): string =>
  [
    `${id} as record_id`,
    ...columns.map((column) => `stored.${column}`),
    'stored.body',
    'stored.checksum',
  ].join(', ')

/** The next rows of the records that are staged of a customer, in the order of their lines. */
export const readStagedRows = (
  { rows }: Reads,
  dialect: Dialect,
  part: Part,
  customerId: string,
  after: bigint,
): Promise<readonly NamedRow[]> =>
  rows({
    text: `select staged.sequence, ${selected(part)}
      from staged cross join ${part.table} as stored
      where staged.customer_id = ${dialect.parameter(1, 'text')}
        and staged.sequence > ${dialect.parameter(2, 'bigint')}
        and stored.customer = staged.customer and ${isRecord(dialect, part, 'staged.id')}
      order by staged.sequence limit ${recordsLimits.resealedTogether}`,
    values: [customerId, after],
  })

/** The row of one record. */
export const readRow = (
  { rows }: Reads,
  dialect: Dialect,
  part: Part,
  number: bigint,
  id: string,
): Promise<readonly NamedRow[]> =>
  rows({
    text: `select ${selected(part)} from ${part.table} as stored
      where stored.customer = ${dialect.parameter(1, 'integer')}
        and ${isRecord(dialect, part, dialect.parameter(2, 'uuid'))}`,
    values: [number, id],
  })

const isRecord = ({ listedId }: Dialect, { resource }: Part, id: string): string =>
  isSealedKind(resource) ? `stored.id = ${id}` : listedId.is('stored', id)

/** The place of a row, as text. */
export const placeOf = ({ columns }: Part, row: NamedRow): readonly string[] =>
  columns.map((column) => {
    if (column === 'position') return Buffer.from(bytes(row, column)).toString('hex')
    if (column === 'deleted') return String(isTrue(row[column]))
    return column === 'id' ? text(row, column) : String(whole(row, column))
  })

const valuesOf = ({ columns }: Part, place: readonly string[]): readonly Value[] =>
  place.map((value, at) => {
    const type = columnTypes[columns[at] ?? 'id']
    if (type === 'bytea') return Buffer.from(value, 'hex')
    if (type === 'boolean') return value === 'true'
    return type === 'bigint' ? BigInt(value) : value
  })

type Owner = { readonly customerId: string; readonly number: bigint }
type Keys = CustomerKeys & { readonly current: CustomerKey }

/** A row that no key of its customer opens. */
export type Unopened = {
  readonly kind: string
  readonly id: string
  /** The key that it names, if it names one. */
  readonly keyId: string | undefined
}

/** Brings rows to the current key of their customer, where they have another one. */
export async function renewRows(
  session: Reads,
  dialect: Dialect,
  part: Part,
  { customerId, number }: Owner,
  keys: Keys,
  found: readonly NamedRow[],
): Promise<{ readonly changed: number; readonly unopened: readonly Unopened[] }> {
  const { resource } = part
  const unopened: Unopened[] = []
  let changed = 0
  const writing: Promise<void>[] = []
  for (const row of found) {
    const [id, stored] = [text(row, 'record_id'), text(row, 'body')]
    const given = { customerId, id, body: stored, checksum: Number(row.checksum) }
    if (isRenewed(resource, given, keys.current)) continue
    const body = openWithAny(keysFor(resource, given, keys), resource, given)
    if (body === undefined) {
      const keyId = isSealedKind(resource) ? keyIdOf(stored) : undefined
      unopened.push({ kind: resource.kind, id, keyId })
      continue
    }
    changed += 1
    const digest = digestOf(keys.current, resource.kind, id, body)
    const sealed = inForm(keys.current, resource, { customerId, id, digest }, body)
    writing.push(writeRow(session, dialect, part, number, row, { sealed, digest }))
    if (part.isCurrent) {
      writing.push(renewTerms(session, dialect, resource, { id, number, body }, keys.current))
    }
  }
  await Promise.all(writing)
  return { changed, unopened }
}

function isRenewed(resource: Resource, stored: StoredBody, current: CustomerKey): boolean {
  const { id, body, checksum } = stored
  return isSealedKind(resource)
    ? keyIdOf(body) === current.id
    : digestOf(current, resource.kind, id, body) === checksum
}

async function writeRow(
  { rows }: Reads,
  { parameter }: Dialect,
  part: Part,
  customer: bigint,
  row: NamedRow,
  { sealed, digest }: { readonly sealed: string; readonly digest: number },
): Promise<void> {
  const isSame = part.columns.map(
    (column, at) => `and stored.${column} = ${parameter(at + 4, columnTypes[column])}`,
  )
  await rows({
    text: `update ${part.table} as stored set body = $1, checksum = ${parameter(2, 'bigint')}
      where stored.customer = ${parameter(3, 'integer')} ${part.condition} ${isSame.join(' ')}`,
    values: [sealed, digest, customer, ...valuesOf(part, placeOf(part, row))],
    prepare: true,
  })
}

/** Digests the names of a current record with the key of the index, in its row and in its terms. */
async function renewTerms(
  { rows }: Reads,
  dialect: Dialect,
  resource: Resource,
  record: { readonly id: string; readonly number: bigint; readonly body: string },
  { indexing }: CustomerKey,
): Promise<void> {
  const { terms } = resource
  if (terms === undefined) return
  const table = dialect.tableName(resource.table)
  const where = `record.customer = ${dialect.parameter(1, 'integer')}
    and ${dialect.listedId.is('record', dialect.parameter(2, 'uuid'))}`
  const values = [record.number, record.id]
  const [row] = await rows({
    text: `select terms from ${table} as record where ${where}`,
    values,
    prepare: true,
  })
  const stored = row && optionalText(row, 'terms')
  if (stored === undefined) return
  const renewed = renewPrivateTerms(terms, stored, indexing, record.body)
  if (renewed === stored) return
  const from = `${table} as record`
  const ofRecord = { from, where: `${where} and ${isCurrent(resource, 'record')}`, row: 'record' }
  await rows({ text: removeTerms(dialect, ofRecord), values, prepare: true })
  await rows({
    text: `update ${table} as record set terms = $3 where ${where}`,
    values: [...values, renewed],
    prepare: true,
  })
  await rows({ text: addTerms(dialect, ofRecord), values, prepare: true })
}
