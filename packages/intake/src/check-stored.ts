import { attempt, printable, printInstant } from '@bursar/base'
import { contractLimits, type RecordInput, type Resource } from '@bursar/contract'
import {
  comesAfter,
  type DerivedFault,
  NOT_OWN,
  type RowKey,
  recordsLimits,
  rowFaults,
  StoreDamaged,
  type StoredRow,
  type StoredRows,
  shownId,
  type WrongCount,
} from '@bursar/records'
import { renderRecord } from './render.ts'

/** `faults` names the first damaged records by kind and id, and no value; the rest are counted. */
export type StoredReport = {
  readonly records: number
  readonly faultCount: number
  readonly faults: readonly string[]
}

/** The named faults as lines, and how many more there are. */
export function listFaults({ faults, faultCount }: Omit<StoredReport, 'records'>): string {
  const rest = faultCount - faults.length
  return [...faults, ...(rest === 0 ? [] : [`and ${rest} more`])].join('\n')
}

/** A record that is not as an import of its full record would store it. */
export type RecordFaults = {
  readonly kind: string
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

/**
 * Checks every stored record of the kinds. Its bodies must match their checksums. Both bodies, the
 * filter columns and the sort key must be what an import of the full record would store, and so
 * must unique claims and terms. Memory use does not grow with the store. Sealed bodies are left out
 * where their keys are not at hand.
 */
export async function checkStored(
  resources: readonly Resource[],
  rows: StoredRows,
  opens = true,
): Promise<StoredReport> {
  const report = { records: 0, faultCount: 0, faults: [] as string[] }
  const note = (fault: string) => {
    report.faultCount += 1
    if (report.faults.length < recordsLimits.faultsReportedMax) report.faults.push(fault)
  }
  for (const resource of resources) {
    try {
      for await (const part of compareKind(resource, rows, opens)) {
        report.records += part.records
        for (const { kind, id, faults } of part.damaged) {
          note(`${kind} ${shownId(id)}: ${faults.join(', ')}`)
        }
        for (const line of describeAll(part.derived)) note(line)
      }
    } catch (error) {
      if (!(error instanceof StoreDamaged)) throw error
      note(`${resource.kind}: the store cannot read on: ${error.message}`)
    }
  }
  // A binding takes a key, as a sealed body does.
  if (opens) await checkOwners(rows, note)
  return report
}

/** A record may have several terms left over, which are one fault. */
export const describeAll = (faults: readonly DerivedFault[]): readonly string[] => [
  ...new Set(faults.map(describeDerived)),
]

/** Quotes no value: it may be an address. */
function describeDerived(fault: DerivedFault): string {
  const { kind, customerId } = fault
  const customer = `customer "${printable(customerId)}"`
  if (fault.fault === 'terms missing') {
    return `${kind} ${shownId(fault.id)}: the index lacks terms of it`
  }
  if (fault.fault === 'a term left over') {
    return `${kind} ${shownId(fault.id)}: the index has a term that is not one of it`
  }
  return `${kind}: a value of ${fault.member} of ${customer} is ${claimed[fault.fault]}`
}

export const describeCount = ({ customerId, kind, kept, counted }: WrongCount): string =>
  `customer "${printable(customerId)}" has ${counted} ${kind}, where ${kept} are kept`

const claimed = {
  unclaimed: 'not claimed, so another customer may get it',
  contested: 'not claimed, and records of two customers have it',
  'claimed without a record': 'claimed, and no record has it',
} as const

async function checkOwners(rows: StoredRows, note: (fault: string) => void): Promise<void> {
  for (let after = 0n; ; ) {
    const found = await rows.owners(after, contractLimits.checkedRowsMax)
    for (const { customerId, number, owner } of found) {
      if (!(await rows.isOwn(customerId, owner))) note(`customers ${number}: ${NOT_OWN}`)
    }
    const last = found.at(-1)
    if (last === undefined) return
    after = last.number
  }
}

/** Compares all that is stored of a kind, a bounded part at a time. */
export async function* compareKind(
  resource: Resource,
  rows: StoredRows,
  opens = true,
): AsyncIterable<ComparedPart> {
  const { kind, mask } = resource
  const rowsMax = contractLimits.checkedRowsMax
  let key: RowKey | undefined
  for (;;) {
    const found = await rows.after(resource, key, rowsMax, opens)
    const damaged = found.flatMap((row): RecordFaults[] => {
      const faults = faultsOfRow(resource, row, rows)
      const { customerId, id } = row
      return faults.length === 0 ? [] : [{ kind, customerId, id, faults }]
    })
    const derived = await rows.derived.missing(resource, key, rowsMax)
    yield { records: found.length, damaged, derived }
    const last = found.at(-1)
    if (last === undefined || found.length < rowsMax) break
    if (key !== undefined && !comesAfter(last, key)) {
      throw new StoreDamaged(`${kind}: the rows are not in their order`)
    }
    key = last
  }
  const lost =
    mask === undefined ? [] : await rows.unpaired(resource, recordsLimits.faultsReportedMax)
  const faults = ['the masked record is missing']
  yield { records: 0, damaged: lost.map((one) => ({ kind, ...one, faults })), derived: [] }
  // What is left over of a lost record is no second fault, and its values stay its own.
  const ids = new Set(lost.map(({ id }) => id))
  const customers = new Set(lost.map(({ customerId }) => customerId))
  const isOfLost = (fault: DerivedFault) =>
    'id' in fault ? ids.has(fault.id) : customers.has(fault.customerId)
  for await (const found of rows.derived.leftOver(resource)) {
    yield { records: 0, damaged: [], derived: found.filter((fault) => !isOfLost(fault)) }
  }
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
  const expected = membersOf(resource, { ...rendered, customerId: row.customerId })
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
