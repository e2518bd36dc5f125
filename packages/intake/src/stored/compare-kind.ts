import { attempt, printInstant } from '@bursar/base'
import { contractLimits, type RecordInput, type Resource } from '@bursar/contract'
import {
  type CountedRow,
  comesAfter,
  type DerivedFault,
  MASKED_MISSING,
  NOT_OWN,
  type RowKey,
  rowFaults,
  StoreDamaged,
  type StoredRow,
  type StoredRows,
  type UnmaskedRow,
} from '@bursar/records'
import { renderRecord } from '../render.ts'
import { openNames } from './open-names.ts'

/** A record that is not as an import of its full record would store it. */
export type RecordFaults = {
  readonly kind: string
  /** The number of the customer. */
  readonly customer: bigint
  readonly customerId: string
  readonly id: string
  readonly faults: readonly string[]
}

/** How a part of the stored records, and of what is stored beside them, differs. */
export type ComparedPart = {
  readonly records: number
  readonly damaged: readonly RecordFaults[]
  readonly derived: readonly DerivedFault[]
}

type Comparing = {
  /** Whether sealed bodies are opened, as they are by default. */
  readonly opens?: boolean
  /** Records of one part. */
  readonly rowsMax?: () => number
}

const usual = () => contractLimits.checkedRowsMax
/** Rows beside the records are read so many times faster. */
const SMALL_TIMES = 32

/** Compares the number of each customer with its binding, which takes a key. */
export async function* compareOwners(
  rows: StoredRows,
  { rowsMax = usual }: Comparing = {},
): AsyncIterable<ComparedPart> {
  for (let after = 0n; ; ) {
    const found = await rows.owners(after, rowsMax())
    const faults = [NOT_OWN]
    const isOwn = await Promise.all(
      found.map(({ customerId, owner }) => rows.isOwn(customerId, owner)),
    )
    const foreign = found.filter((_, at) => isOwn[at] === false)
    const damaged = foreign.map(({ customerId, number }) => {
      return { kind: 'customers', customer: number, customerId, id: String(number), faults }
    })
    yield { records: 0, damaged, derived: [] }
    const last = found.at(-1)
    if (last === undefined) return
    after = last.number
  }
}

/** Compares all that is stored of a kind, a bounded part at a time. */
export async function* compareKind(
  resource: Resource,
  rows: StoredRows,
  { opens = true, rowsMax = usual }: Comparing = {},
): AsyncIterable<ComparedPart> {
  const { kind, mask } = resource
  const counts = openCounts(resource, rows)
  let key: RowKey | undefined
  for (;;) {
    const max = rowsMax()
    const found = await rows.after(resource, key, max, opens)
    const doubtful = found.filter((row) => faultsOfRow(resource, row, rows).length > 0)
    const damaged: RecordFaults[] = []
    for (const row of doubtful) {
      const { customer, customerId, id } = row
      const faults = opens
        ? await faultsStill(resource, row, rows)
        : faultsOfRow(resource, row, rows)
      if (faults.length > 0) damaged.push({ kind, customer, customerId, id, faults })
    }
    const last = found.at(-1)
    // A damaged record derives nothing, and may be no JSON.
    const except = doubtful.map(({ position }) => position)
    const range = last && { after: key, until: last, rowsMax: max, except }
    const missing = range === undefined ? [] : await rows.derived.missing(resource, range)
    const isEnd = last === undefined || found.length < max
    const derived = [...missing, ...(await counts.add(found)), ...(isEnd ? await counts.end() : [])]
    yield { records: found.length, damaged, derived }
    if (isEnd) break
    if (key !== undefined && !comesAfter(last, key)) {
      throw new StoreDamaged(`${kind}: the rows are not in their order`)
    }
    key = last
  }
  const smallMax = () => SMALL_TIMES * rowsMax()
  /** What is left over of a lost record is no second fault. */
  const [lost, losers] = [openNames(), openNames()]
  for await (const part of mask === undefined ? [] : lostRecords(resource, rows, smallMax)) {
    for (const { id, customerId } of part.damaged) {
      lost.add(id)
      losers.add(customerId)
    }
    yield part
  }
  const isOfLost = (fault: DerivedFault) =>
    'id' in fault ? lost.mayHave(fault.id) : losers.mayHave(fault.customerId)
  for await (const found of rows.derived.leftOver(resource, smallMax)) {
    yield { records: 0, damaged: [], derived: found.filter((fault) => !isOfLost(fault)) }
  }
}

/** Unmasked records whose masked record is missing. */
async function* lostRecords(
  resource: Resource,
  rows: StoredRows,
  rowsMax: () => number,
): AsyncIterable<ComparedPart> {
  const faults = [MASKED_MISSING]
  for (let after: UnmaskedRow | undefined; ; ) {
    const max = rowsMax()
    const found: readonly UnmaskedRow[] = await rows.unmasked(resource, after, max)
    const damaged = found.flatMap(({ customer, customerId, id, isLost }) =>
      isLost ? [{ kind: resource.kind, customer, customerId, id, faults }] : [],
    )
    yield { records: 0, damaged, derived: [] }
    after = found.at(-1)
    if (after === undefined || found.length < max) return
  }
}

/**
 * Counts the live records of one customer after the other. A count that is kept is wrong only if
 * nothing of the customer has changed between its first row and its last.
 */
function openCounts(resource: Resource, rows: StoredRows) {
  let counted = 0
  let first: CountedRow | undefined
  const end = async (): Promise<readonly DerivedFault[]> => {
    if (first === undefined || first.kept.live === counted) return []
    const { customer, customerId, kept } = first
    const now = await rows.derived.kept(resource, customer)
    if (now.state !== kept.state) return []
    const fault = { fault: 'miscounted', kept: kept.live, counted } as const
    return [{ kind: resource.kind, customer, customerId, ...fault }]
  }
  return {
    end,
    async add(found: readonly CountedRow[]) {
      const faults: DerivedFault[] = []
      for (const row of found) {
        if (row.customer !== first?.customer) {
          faults.push(...(await end()))
          first = row
          counted = 0
        }
        if (!row.deleted) counted += 1
      }
      return faults
    },
  }
}

/** What is wrong with a record that is read again, as its key or its rows may just have changed. */
async function faultsStill(
  resource: Resource,
  row: StoredRow,
  rows: StoredRows,
): Promise<readonly string[]> {
  // It has the number of no customer.
  if (row.customerId === '') return faultsOfRow(resource, row, rows)
  const now = await rows.find(resource, row.customerId, row.id)
  return now === undefined ? [] : faultsOfRow(resource, now, rows)
}

/** What is wrong with a stored record. Quotes no value. */
export const faultsOfRow = (
  resource: Resource,
  row: StoredRow,
  rows: StoredRows,
): readonly string[] => [
  ...new Set([...rowFaults(resource, row), ...renderingFaults(resource, row, rows)]),
]

/** How a row differs from what an import of its full record stores. */
function renderingFaults(resource: Resource, row: StoredRow, { membersOf }: StoredRows): string[] {
  const full = row.unmasked === undefined ? row.listed.body : row.unmasked?.body
  if (full === undefined) return []
  const rendered = renderAgain(resource, row, full)
  if (rendered === undefined) return ['its body is no record']
  const expected = membersOf(resource, row, { ...rendered, customerId: row.customerId })
  const members = Object.keys(row.members).filter(
    (column) => expected !== undefined && row.members[column] !== (expected[column] ?? null),
  )
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['customer_id', row.customerId, rendered.customerId],
    ['id', row.id, rendered.id],
    [resource.orderBy, hexOf(row.position), hexOf(rendered.position)],
    ['updated_at', row.updatedAt, rendered.updatedAt],
  ]
  const columns = [
    ...pairs.filter(([, stored, expected]) => stored !== expected).map(([column]) => column),
    ...members,
  ]
  return [
    ...columns.map((column) => `the column ${column} differs from its body`),
    ...(full === rendered.full ? [] : ['its body is not as an import would store it']),
    ...(rendered.masked === null || rendered.masked === row.listed.body
      ? []
      : ['its masked body differs from its full body']),
  ]
}

/** Undefined if the body is not the JSON of a record of this kind. */
const renderAgain = (resource: Resource, row: StoredRow, body: string) =>
  attempt(() => {
    const record = { ...withheldOf(resource, row), ...(JSON.parse(body) as RecordInput) }
    return renderRecord(resource, record, 0)
  })

/** The members that import took and no body shows. */
function withheldOf({ withheldMembers }: Resource, row: StoredRow): RecordInput {
  const stored = {
    customer_id: row.customerId,
    deleted_at: row.deletedAt === null ? undefined : printInstant(row.deletedAt),
    source_version: row.sourceVersion === null ? undefined : Number(row.sourceVersion),
  }
  return Object.fromEntries(
    Object.entries(stored).filter(
      ([member, value]) => value !== undefined && withheldMembers.includes(member),
    ),
  )
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
