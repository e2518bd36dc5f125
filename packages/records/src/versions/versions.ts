import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { PlaceLost } from '../lost-places.ts'
import { TAKE_OVER } from '../merge/origins.ts'
import {
  PastUnknown,
  type RecordName,
  type Version,
  type VersionOrigin,
} from '../records/history.ts'
import { exportLine, readStoredRecord, versionOf, versionSecret } from '../records/stored-record.ts'
import type { OperatorRecords } from '../records.ts'
import { type NamedRow, optionalText, optionalWhole, whole } from '../row.ts'
import { customerId, customerNumber } from '../schema/customers.ts'
import { fullOfRecord, versionMark } from '../schema/tables.ts'
import type { Seals } from '../sealing/seals.ts'
import type { Reads, Value } from '../session.ts'

/** Reads the versions of a record: its current one and its replaced ones. */
export function openVersions(
  { rows }: Reads,
  dialect: Dialect,
  seals: Pick<Seals, 'open'>,
): Pick<OperatorRecords, 'find' | 'findAsOf' | 'history' | 'update'> {
  const read = async (resource: Resource, text: string, values: readonly Value[]) => {
    const found = await rows({ text, values, prepare: true })
    return await Promise.all(found.map((row) => readVersion(resource, row, seals)))
  }
  const findCurrent = async (resource: Resource, { id, customerId }: RecordName) => {
    const [current] =
      customerId === undefined
        ? await read(resource, currentVersion(resource, dialect), [id])
        : await read(resource, currentVersionOf(resource, dialect), [customerId, id])
    return current
  }
  const findBefore = async (resource: Resource, customerId: string, id: string, at: bigint) => {
    const [found] = await read(resource, versionBefore(resource, dialect), [customerId, id, at])
    return found
  }
  const findKeptSince = async ({ kind }: Resource, customerId: string) => {
    const text = keptSinceQuery(dialect)
    const [row] = await rows({ text, values: [customerId, kind], prepare: true })
    return whole(row ?? {}, 'at')
  }
  return {
    find: findCurrent,
    findAsOf: async (resource, name, asOf) => {
      const current = await findCurrent(resource, name)
      if (current === undefined) return undefined
      const { customerId } = current
      const isCurrent = current.storedAt <= asOf
      const found = isCurrent ? current : await findBefore(resource, customerId, name.id, asOf)
      // Read last, so that no pruning falls between the two.
      const keptSince = await findKeptSince(resource, customerId)
      if (asOf < keptSince) throw new PastUnknown(resource.kind, keptSince)
      return { customerId, found }
    },
    update: async (resource, name, storedAt) => {
      const { id, customerId } = name
      const current = await findCurrent(resource, name)
      const after =
        current?.storedAt === storedAt
          ? current
          : await findBefore(resource, customerId, id, storedAt)
      if (after?.storedAt !== storedAt) return undefined
      const before = await findBefore(resource, customerId, id, storedAt - 1n)
      return before && { before: before.line, after: after.line }
    },
    history: async (resource, name, { after, versionsMax }) => {
      const current = await findCurrent(resource, name)
      if (current === undefined) return undefined
      const { id } = name
      const { customerId } = current
      const start = after?.storedAt ?? BEFORE_ALL
      const values = [customerId, id, start, versionsMax + 1]
      const replaced = await read(resource, versionsAfter(resource, dialect), values)
      // A version that is replaced while they are read counts once.
      const past = replaced.filter(({ storedAt }) => storedAt < current.storedAt)
      const all = current.storedAt > start ? [...past, current] : past
      const isCurrent = current.storedAt === start
      const before = isCurrent
        ? current
        : after && (await findBefore(resource, customerId, id, start))
      // Read last, so that no pruning falls between the two.
      const keptSince = await findKeptSince(resource, customerId)
      const isPruned = start < keptSince && before?.storedAt !== start
      if (after !== undefined && !isPruned && before?.version !== after.version) {
        throw new PlaceLost('the version after which the history goes on is not there any more')
      }
      return {
        customerId,
        keptSince,
        versions: all.slice(0, versionsMax),
        previous: before,
        more: all.length > versionsMax,
      }
    },
  }
}

/** Before every version. */
const BEFORE_ALL = -1n

const version = (
  names: Pick<Dialect, 'tableName'>,
  row: string,
  id: string,
  body: string,
  [checksum, mark]: readonly [string, string],
  replacedAt: string,
) => `
  ${customerId(names, `${row}.customer`)} as customer_id, ${id} as id, ${body} as body, ${checksum} as checksum,
  ${mark} as version_mark, ${row}.deleted_at,
  ${row}.source_version, ${row}.stored_at, ${replacedAt} as replaced_at, ${row}.origin_line,
  ${versionSecret(names, `${row}.customer`)},
  origin.command, origin.client_id, origin.file, origin.os_user`

/** The current version of the record of any customer, by its id. */
const currentVersion = (resource: Resource, dialect: Dialect): string => `
    ${current(resource, dialect, 'by_id')}
    where ${hasId(dialect, 1)} and record.stored_at >= 0
      and record.id_taken = false`

/** The same of one customer, by an index that finds no other customer's record. */
export const currentVersionOf = (resource: Resource, dialect: Dialect): string => `
    ${current(resource, dialect, 'by_id')}
    where record.customer = ${namedCustomer(dialect)}
      and ${hasId(dialect, 2)}`

/** The number of the customer that the first parameter names. */
const namedCustomer = (dialect: Dialect): string =>
  customerNumber(dialect, dialect.parameter(1, 'text'))

const hasId = ({ listedId, parameter }: Dialect, at: number): string =>
  listedId.is('record', parameter(at, 'uuid'))

function current(resource: Resource, dialect: Dialect, index: string): string {
  const { tableName, indexedBy, listedId } = dialect
  const { row, join } = fullOfRecord(resource, dialect)
  return `
    select ${version(dialect, 'record', listedId.of('record'), `${row}.body`, [`${row}.checksum`, versionMark(resource, row)], 'null')}
    from ${tableName(resource.table)} as record ${indexedBy(`${resource.table}_${index}`)}
    left join ${tableName('origin')} as origin on origin.id = record.origin
    ${join}`
}

const keptSinceQuery = (dialect: Dialect): string => `
    select at from ${dialect.tableName('kept_since')}
    where customer = ${namedCustomer(dialect)} and kind = ${dialect.parameter(2, 'text')}`

const replaced = (resource: Resource, dialect: Dialect): string => `
    select ${version(dialect, 'past', 'past.id', 'past.body', ['past.checksum', versionMark(resource, 'past')], 'past.replaced_at')}
    from ${dialect.tableName('history')} as past
    left join ${dialect.tableName('origin')} as origin on origin.id = past.origin
    where past.customer = ${namedCustomer(dialect)} and past.kind = '${resource.kind}'
      and past.id = ${dialect.parameter(2, 'uuid')}`

/** The replaced version that was stored at a time, or the last one before it. */
export const versionBefore = (resource: Resource, dialect: Dialect): string => `
    ${replaced(resource, dialect)} and past.stored_at <= ${dialect.parameter(3, 'bigint')}
    order by past.stored_at desc limit 1`

/**
 * Replaced versions that were stored after a time, oldest first. The bound of the rows is an
 * expression, because SQLite prepares a statement again for each value of a bare LIMIT.
 */
export const versionsAfter = (resource: Resource, dialect: Dialect): string => `
    ${replaced(resource, dialect)} and past.stored_at > ${dialect.parameter(3, 'bigint')}
    order by past.stored_at limit ${dialect.parameter(4, 'bigint')} + 0`

/** Reads a row of these queries. */
async function readVersion(
  resource: Resource,
  row: NamedRow,
  seals: Pick<Seals, 'open'>,
): Promise<Version> {
  const stored = readStoredRecord(row)
  const origin = readOrigin(row)
  return {
    customerId: stored.customerId,
    line: await exportLine(resource, stored, seals),
    version: versionOf(row),
    isWithdrawn: stored.deletedAt !== null && (!resource.deletable || origin?.tookOver === true),
    storedAt: stored.storedAt,
    replacedAt: optionalWhole(row, 'replaced_at'),
    origin,
  }
}

/** Reads who stored a version, from its line and the members of its origin. */
export function readOrigin(row: NamedRow): VersionOrigin | undefined {
  const command = optionalText(row, 'command')
  if (command === undefined) return undefined
  const at = optionalWhole(row, 'origin_line')
  const line = at === undefined ? undefined : Number(at)
  const tookOver = command === TAKE_OVER
  const clientId = optionalText(row, 'client_id')
  if (clientId === undefined) {
    const [file, user] = [optionalText(row, 'file') ?? '', optionalText(row, 'os_user') ?? '']
    return { file, user, line, tookOver }
  }
  const isOther = command === 'POST' || command === 'DELETE'
  return { command: isOther ? command : 'PUT', clientId, line, tookOver }
}
