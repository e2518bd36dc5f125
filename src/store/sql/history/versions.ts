import type { Resource } from '../../../contract/resource.ts'
import { fullTable } from '../../../contract/resource.ts'
import type { History, HistoryPart, Version, VersionOrigin } from '../../records/history.ts'
import { foundRecord, readStoredRecord } from '../export-line.ts'
import { type NamedRow, optionalText, optionalWhole } from '../row.ts'

type Names = {
  readonly tableName: (table: string) => string
  /** The names of the parameters, in the order of the values. */
  readonly parameters: readonly [string, string?, string?, string?]
}

const version = (row: string, body: string, checksum: string, replacedAt: string) => `
  ${row}.customer_id, ${row}.id, ${body} as body, ${checksum} as checksum, ${row}.deleted_at,
  ${row}.source_version, ${row}.stored_at, ${replacedAt} as replaced_at, ${row}.origin_line,
  origin.command, origin.client_id, origin.file, origin.os_user`

/** The current version of a record, by its id. */
export function currentVersion(resource: Resource, { tableName, parameters: [id] }: Names): string {
  const full = fullTable(resource)
  const isApart = full !== resource.table
  const kept = isApart ? 'unmasked' : 'record'
  return `
    select ${version('record', `${kept}.body`, `${kept}.checksum`, 'null')}
    from ${tableName(resource.table)} as record
    left join ${tableName('origin')} as origin on origin.id = record.origin
    ${isApart ? `left join ${tableName(full)} as unmasked on unmasked.customer_id = record.customer_id and unmasked.id = record.id` : ''}
    where record.id = ${id} and record.stored_at >= 0`
}

const replaced = ({ kind }: Resource, { tableName, parameters: [customer, id] }: Names): string => `
    select ${version('past', 'past.body', 'past.checksum', 'past.replaced_at')}
    from ${tableName('superseded')} as past
    left join ${tableName('origin')} as origin on origin.id = past.origin
    where past.customer_id = ${customer} and past.kind = '${kind}' and past.id = ${id}`

/** The replaced version that was stored at a time, or the last one before it. */
export const versionBefore = (resource: Resource, names: Names): string => `
    ${replaced(resource, names)} and past.stored_at <= ${names.parameters[2]}
    order by past.stored_at desc limit 1`

/** Replaced versions that were stored after a time, oldest first. */
export const versionsAfter = (resource: Resource, names: Names): string => `
    ${replaced(resource, names)} and past.stored_at > ${names.parameters[2]}
    order by past.stored_at limit ${names.parameters[3]}`

/** Reads a row of these queries. */
export function readVersion(resource: Resource, row: NamedRow): Version {
  const stored = readStoredRecord(row)
  return {
    ...foundRecord(resource, stored),
    storedAt: stored.storedAt,
    replacedAt: optionalWhole(row, 'replaced_at'),
    origin: readOrigin(row),
  }
}

function readOrigin(row: NamedRow): VersionOrigin | undefined {
  const command = optionalText(row, 'command')
  if (command === undefined) return undefined
  const at = optionalWhole(row, 'origin_line')
  const line = at === undefined ? undefined : Number(at)
  const clientId = optionalText(row, 'client_id')
  if (clientId === undefined) {
    const [file, user] = [optionalText(row, 'file') ?? '', optionalText(row, 'os_user') ?? '']
    return { file, user, line }
  }
  return { command: command === 'POST' || command === 'DELETE' ? command : 'PUT', clientId, line }
}

/** Before every version. */
const BEFORE_ALL = -1n

/** How a store reads what the functions below put together. */
type Reader = (
  sql: 'before' | 'after',
  customerId: string,
  at: bigint,
) => Promise<readonly Version[]>

/**
 * The versions of a record from its current one and its replaced ones. A version that is replaced
 * while they are read counts once.
 */
export async function readHistory(
  current: Version,
  { after = BEFORE_ALL, versionsMax }: HistoryPart,
  read: Reader,
): Promise<History> {
  const { customerId } = current
  const past = (await read('after', customerId, after)).filter(
    ({ storedAt }) => storedAt < current.storedAt,
  )
  const all = current.storedAt > after ? [...past, current] : past
  const [previous] = after === BEFORE_ALL ? [] : await read('before', customerId, after)
  const more = all.length > versionsMax
  return { customerId, versions: all.slice(0, versionsMax), previous, more }
}

/** The version that was in force at a time. */
export async function versionAsOf(
  current: Version | undefined,
  asOf: bigint,
  read: Reader,
): Promise<Version | undefined> {
  if (current === undefined || current.storedAt <= asOf) return current
  const [found] = await read('before', current.customerId, asOf)
  return found
}
