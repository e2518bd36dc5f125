import { attempt, printInstant } from '@bursar/base'
import { contractLimits, type RecordInput, type Resource } from '@bursar/contract'
import {
  comesAfter,
  NOT_OWN,
  type RowKey,
  recordsLimits,
  rowFaults,
  StoreDamaged,
  type StoredRow,
  type StoredRows,
  shownId,
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

/**
 * Checks every stored record of the kinds. Its bodies must match their checksums. Both bodies, the
 * filter columns and the sort key must be what an import of the full record would store. Memory use
 * does not grow with the store. Sealed bodies are left out where their keys are not at hand.
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
      await checkKind(resource, { rows, opens }, report, note)
    } catch (error) {
      if (!(error instanceof StoreDamaged)) throw error
      note(`${resource.kind}: the store cannot read on: ${error.message}`)
    }
  }
  // A binding takes a key, as a sealed body does.
  if (opens) await checkOwners(rows, note)
  return report
}

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

async function checkKind(
  resource: Resource,
  { rows, opens }: { readonly rows: StoredRows; readonly opens: boolean },
  report: { records: number },
  note: (fault: string) => void,
): Promise<void> {
  const { kind, mask } = resource
  let key: RowKey | undefined
  for (;;) {
    const found = await rows.after(resource, key, contractLimits.checkedRowsMax, opens)
    for (const row of found) {
      report.records += 1
      const faults = [
        ...new Set([...rowFaults(resource, row), ...renderingFaults(resource, row, rows)]),
      ]
      if (faults.length > 0) note(`${kind} ${shownId(row.id)}: ${faults.join(', ')}`)
    }
    const last = found.at(-1)
    if (last === undefined || found.length < contractLimits.checkedRowsMax) break
    if (key !== undefined && !comesAfter(last, key)) {
      note(`${kind}: the rows are not in their order; the records after them were not checked`)
      break
    }
    key = last
  }
  const lost =
    mask === undefined ? [] : await rows.unpaired(resource, recordsLimits.faultsReportedMax)
  for (const id of lost) note(`${kind} ${shownId(id)}: the masked record is missing`)
  // The terms of a lost record are left over. They are no second fault.
  for (const id of await rows.otherTerms(resource, recordsLimits.faultsReportedMax)) {
    if (lost.includes(id)) continue
    note(`${kind} ${shownId(id)}: the stored terms are not those of the record`)
  }
}

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
