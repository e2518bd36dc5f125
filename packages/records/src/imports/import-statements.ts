import { DAY_MICROS, limitsOf, systemTime } from '@bursar/base'
import type { RunningState, WaitCode } from '@bursar/contract'
import { type Dialect, openParameters, type ParameterType } from '../dialect.ts'
import type { ImportOutcome, ImportsPart, NewImport } from '../imports.ts'
import { type NamedRow, text, whole } from '../row.ts'
import type { Statement, Value } from '../session.ts'

const limits = limitsOf({
  /** How long the registry keeps imports, and how many: a filter reads all of them in 10 ms. */
  importKeptDays: 30,
  importsKeptMax: 10_000,
  /** The newest ones, of which the metrics count those that run or ended in so long: 1 ms. */
  importsCountedMax: 1000,
  importsEndedCountedMs: 3_600_000,
  /** Old imports that are deleted from the registry at a time. */
  importsSweptMax: 1000,
})

/** What a process has noted of an import. Times are by `Time.elapsedMs`. */
export type Noted = {
  readonly id: string
  readonly entry: NewImport
  readonly begunAt: number
  readonly state: RunningState
  readonly waitsFor: WaitCode | undefined
  readonly recordsRead: number
  /** Whether every record was read. */
  readonly isRead: boolean
  readonly ended: { readonly at: number; readonly outcome: ImportOutcome } | undefined
}

/** The number of the lock that the process of a running import holds. */
export type LockNumber = number | undefined

/** The columns of a row besides the dry run and the times. */
const columns = {
  id: 'uuid',
  kind: 'text',
  client_id: 'text',
  os_user: 'text',
  sudo_user: 'text',
  file: 'text',
  files: 'bigint',
  bound_to: 'text',
  state: 'text',
  waits_for: 'text',
  records_read: 'bigint',
  records: 'bigint',
  added: 'bigint',
  changed: 'bigint',
  unchanged: 'bigint',
  rejected: 'bigint',
  withdrawn: 'bigint',
  reason: 'text',
  lock_number: 'bigint',
} as const satisfies Readonly<Record<string, ParameterType>>

type Column = keyof typeof columns

/** Those that change while an import runs. */
const changing = Object.keys(columns).slice(Object.keys(columns).indexOf('state'))

/** The statements of the registry. Times are by the clock of the store. */
export function importStatements(dialect: Dialect) {
  const { tableName, now } = dialect
  const table = tableName('import_registry')
  const isHeld = dialect.isImportLockHeld('lock_number')
  const lost = `(ended_at is null and (lock_number is null or not ${isHeld}))`
  const selected = `${Object.keys(columns).join(', ')}, dry_run, started_at, updated_at, ended_at,
    cancel_requested_at, ${lost} as is_lost`
  return {
    /** Writes all that is noted. Returns when somebody has cancelled the import. */
    write: (noted: Noted, lock: LockNumber): Statement => {
      const parameters = openParameters(dialect)
      const written = valuesOf(noted, lock)
      const values = Object.entries(columns).map(([column, type]) =>
        parameters.add(isColumn(column) ? written[column] : null, type),
      )
      const ago = (at: number | undefined) =>
        `${now} - ${parameters.add(microsSince(at), 'bigint')}`
      const isDryRun = parameters.add(noted.entry.isDryRun, 'boolean')
      const changes = [...changing, 'updated_at', 'ended_at']
      const text = `
        insert into ${table}
          (${Object.keys(columns).join(', ')}, dry_run, started_at, updated_at, ended_at)
        values (${values.join(', ')}, ${isDryRun}, ${ago(noted.begunAt)}, ${now}, ${ago(noted.ended?.at)})
        on conflict (id) do update set
          ${changes.map((column) => `${column} = excluded.${column}`).join(', ')}
        returning cancel_requested_at`
      return { text, values: parameters.values, prepare: true }
    },
    list: ({ state, kind, ofClientsOf, after, importsMax }: ImportsPart): Statement => {
      const parameters = openParameters(dialect)
      const conditions: string[] = []
      if (after !== undefined) conditions.push(`id < ${parameters.add(after, 'uuid')}`)
      if (kind !== undefined) conditions.push(`kind = ${parameters.add(kind, 'text')}`)
      if (ofClientsOf !== undefined) {
        conditions.push(isOfClients(parameters.add(ofClientsOf, 'text')))
      }
      if (state === 'lost') conditions.push(lost)
      else if (state !== undefined) {
        conditions.push(`state = ${parameters.add(state, 'text')} and not ${lost}`)
      }
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
      const most = parameters.add(importsMax, 'bigint')
      const text = `select ${selected} from ${table} ${where} order by id desc limit ${most}`
      return { text, values: parameters.values }
    },
    find: (id: string, ofClientsOf: string | undefined): Statement => {
      const { add, values } = openParameters(dialect)
      const isNamed = `id = ${add(id, 'uuid')}`
      const isSeen = ofClientsOf === undefined ? '' : `and ${isOfClients(add(ofClientsOf, 'text'))}`
      return { text: `select ${selected} from ${table} where ${isNamed} ${isSeen}`, values }
    },
    /** Marks an import that has not ended. Its process looks for the mark. */
    cancel: (id: string): Statement => ({
      text: `
        update ${table} set cancel_requested_at = coalesce(cancel_requested_at, ${now})
        where id = ${dialect.parameter(1, 'uuid')} and ended_at is null returning id`,
      values: [id],
    }),
    /** What others have noted of the imports of a process. */
    look: (ids: readonly string[]): Statement => {
      const parameters = openParameters(dialect)
      const list = parameters.add(dialect.list(ids), 'uuid[]')
      const text = `select id, cancel_requested_at is not null as is_cancelled,
          lock_number is null as is_noted_lost
        from ${table} where ${dialect.isAnyOf('id', list)}`
      return { text, values: parameters.values, prepare: true }
    },
    /** Those of the newest that are lost, while nobody has noted it. */
    lost: {
      text: `select id, lock_number from ${table}
        where ended_at is null and lock_number is not null and not ${isHeld} and id in (
          select id from ${table} order by id desc limit ${limits.importsCountedMax})`,
    } satisfies Statement,
    /** Notes that they are lost, and so when that was found. No later lock has their numbers. */
    noteLost: (found: readonly NamedRow[]): Statement => {
      const { add, values } = openParameters(dialect)
      const ids = add(dialect.list(found.map((row) => text(row, 'id'))), 'uuid[]')
      const numbers = add(
        dialect.list(found.map((row) => Number(whole(row, 'lock_number')))),
        'bigint[]',
      )
      return {
        text: `update ${table} set lock_number = null, updated_at = ${now}
          where ended_at is null and ${dialect.isAnyOf('id', ids)}
            and ${dialect.isAnyOf('lock_number', numbers)}`,
        values,
      }
    },
    /** How many of the newest run or ended lately, by state and by what they wait for. */
    count: {
      text: `
        with newest as materialized (
          select case when ${lost} then 'lost' else state end as state,
            case when state = 'waiting' and not ${lost} then waits_for end as waits_for,
            coalesce(ended_at, case when ${lost} then updated_at end) as ended_at
          from ${table} order by id desc limit ${limits.importsCountedMax}
        )
        select state, waits_for, count(*) as imports from newest
        where ended_at is null or ended_at > ${now} - ${BigInt(limits.importsEndedCountedMs) * 1000n}
        group by state, waits_for`,
    } satisfies Statement,
    /** Deletes old rows and those past the number that is kept. Looks at the oldest only. */
    sweep: {
      text: `
        delete from ${table} where id in (
          select id from ${table} order by id limit ${limits.importsSweptMax})
        and (started_at < ${now} - ${BigInt(limits.importKeptDays) * DAY_MICROS} or id <= (
          select id from ${table} order by id desc limit 1 offset ${limits.importsKeptMax}))`,
    } satisfies Statement,
    clear: { text: `delete from ${table}` } satisfies Statement,
  }
}

const isColumn = (name: string): name is Column => Object.hasOwn(columns, name)

/** A client that is bound to a customer sees imports of that customer's clients, and no files. */
const isOfClients = (customer: string): string =>
  `(bound_to = ${customer} and client_id is not null)`

const microsSince = (at: number | undefined): bigint | null =>
  at === undefined ? null : BigInt(Math.round((systemTime.elapsedMs() - at) * 1000))

function valuesOf(noted: Noted, lock: LockNumber): Readonly<Record<Column, Value>> {
  const { id, entry, state, waitsFor = null, recordsRead, isRead, ended } = noted
  const { importer, kind, boundTo = null } = entry
  const byClient = 'clientId' in importer
  const outcome = ended?.outcome
  const counts = outcome !== undefined && 'counts' in outcome ? outcome.counts : undefined
  return {
    id,
    kind,
    client_id: byClient ? importer.clientId : null,
    os_user: byClient ? null : importer.user,
    sudo_user: byClient ? null : (importer.sudoUser ?? null),
    file: byClient ? null : importer.file,
    files: byClient ? null : importer.files,
    bound_to: boundTo,
    state: outcome?.state ?? state,
    waits_for: outcome === undefined ? waitsFor : null,
    records_read: recordsRead,
    records: isRead ? recordsRead : null,
    added: counts?.added ?? null,
    changed: counts?.changed ?? null,
    unchanged: counts?.unchanged ?? null,
    rejected: counts?.rejected ?? null,
    withdrawn: counts?.withdrawn ?? null,
    reason: outcome !== undefined && 'reason' in outcome ? outcome.reason : null,
    lock_number: lock ?? null,
  }
}
