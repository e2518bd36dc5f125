import { DAY_MICROS, HOUR_MICROS, limitsOf } from '@bursar/base'
import { type Dialect, openParameters, type ParameterType } from '../dialect.ts'
import type {
  ImportCounts,
  ImportFailure,
  ImportsPart,
  NewImport,
  StoredOutcome,
} from '../imports.ts'
import type { Statement, Value } from '../session.ts'

const limits = limitsOf({
  /** How long an idempotency key and its answer are kept, and how many are emptied at a time. */
  answerKeptHours: 24,
  answersEmptiedMax: 100,
  /** Old imports that are deleted at a time. */
  importsSweptMax: 1000,
  /** The newest ones, of which the metrics count those that run or ended in so long: 1 ms. */
  importsCountedMax: 1000,
  importsEndedCountedMs: 3_600_000,
  /** Running imports of which a look asks whether their process lives. */
  importsRunningMax: 1000,
})

/** A row as it is when its import begins. */
export type BegunRow = NewImport & {
  readonly id: string
  readonly lockNumber: number
  /** The purpose key of the digests, the fingerprint and the answer. */
  readonly keyId: string
  readonly digests: readonly string[]
  readonly idempotencyKey: string | undefined
  readonly fingerprint: string | undefined
}

/** The row of an import that is stored. */
export type StoredRow = StoredOutcome & {
  /** The `stored_at` of its records. */
  readonly storedAt: bigint
}

const begun = {
  id: 'uuid',
  kind: 'text',
  client_id: 'text',
  os_user: 'text',
  sudo_user: 'text',
  file: 'text',
  files: 'bigint',
  bound_to: 'text',
  lock_number: 'bigint',
  key_id: 'text',
  digests: 'text',
  idempotency_key: 'text',
  fingerprint: 'text',
} as const satisfies Readonly<Record<string, ParameterType>>

const countColumns = [
  'records',
  'added',
  'changed',
  'unchanged',
  'rejected',
  'withdrawn',
] as const satisfies readonly (keyof ImportCounts)[]

/** What PostgreSQL's role of the operator may write when an import begins, and later. */
export const importBegun = [...Object.keys(begun), 'state', 'started_at'].join(', ')
export const importEnded = `state, digests, ${countColumns.join(', ')}, reason, ended_at,
  cancel_requested_at, idempotency_key, fingerprint, answer, file`

/** Several digests in one column, each of the same length. */
const joined = (digests: readonly string[]): string | null =>
  digests.length === 0 ? null : digests.join(' ')

const emptied = 'idempotency_key = null, fingerprint = null, answer = null'

/** Empties what was kept of requests with idempotency keys of clients, for an erasure. */
export function emptyAnswers({ tableName, isAnyOf, parameter, forUpdate }: Dialect) {
  const table = tableName('import')
  const isOwn = `${isAnyOf('client_id', parameter(1, 'text[]'))}
    and (idempotency_key is not null or digests is not null)`
  return {
    of: 'clients' as const,
    erase: `update ${table} set ${emptied}, digests = null where id in (
        select id from ${table} where ${isOwn}
        order by id limit ${parameter(2, 'bigint')} ${forUpdate('skip')})
      returning 1`,
    isLeft: `select 1 from ${table} where ${isOwn} limit 1`,
    count: `select count(*) as count from ${table} where ${isOwn}`,
  }
}

/** Empties the names and digests of files of one customer, which is the parameter. */
export const emptyFiles = ({ tableName, parameter }: Dialect): string =>
  `update ${tableName('import')} set file = '-', digests = null
    where bound_to = ${parameter(1, 'text')} and file is not null
      and (file <> '-' or digests is not null)`

/** The statements over the table of imports. Times are by the clock of the caller. */
export function importStatements(dialect: Dialect) {
  const { tableName } = dialect
  const table = tableName('import')
  const selected = `id, kind, client_id, os_user, sudo_user, role, file, files, bound_to, state,
    ${countColumns.join(', ')}, reason, started_at, ended_at, cancel_requested_at`
  return {
    begin: (row: BegunRow, now: bigint): Statement => {
      const { add, values } = openParameters(dialect)
      const written = valuesOf(row)
      const added = Object.entries(begun).map(([column, type]) =>
        add(written[column as keyof typeof begun], type),
      )
      return {
        text: `insert into ${table} (${Object.keys(begun).join(', ')}, state, started_at)
          values (${added.join(', ')}, 'running', ${add(now, 'bigint')})
          on conflict do nothing returning 1`,
        values,
        prepare: true,
      }
    },
    /** The row of a client's idempotency key, which it locks. */
    findKey: (clientId: string, key: string): Statement => ({
      text: `select id, state, key_id, fingerprint, answer from ${table}
        where client_id = $1 and idempotency_key = $2 ${dialect.forUpdate('wait')}`,
      values: [clientId, key],
    }),
    /** Empties the keys and answers whose time has passed, of one key or of the oldest. */
    emptyKey: (clientId: string, key: string, now: bigint): Statement => ({
      text: `update ${table} set ${emptied}
        where client_id = $1 and idempotency_key = $2 and started_at <= $3 and state <> 'running'`,
      values: [clientId, key, now - BigInt(limits.answerKeptHours) * HOUR_MICROS],
    }),
    emptyKeys: (now: bigint): Statement => ({
      text: `update ${table} set ${emptied} where id in (
        select id from ${table}
        where idempotency_key is not null and started_at <= $1 and state <> 'running'
        order by started_at limit ${limits.answersEmptiedMax} ${dialect.forUpdate('skip')})`,
      values: [now - BigInt(limits.answerKeptHours) * HOUR_MICROS],
    }),
    /** The last statement of a merge. It returns a row unless the import was ended meanwhile. */
    store: ({ id, counts, digests, answer, storedAt }: StoredRow): Statement => {
      const { add, values } = openParameters(dialect)
      const state = counts.rejected > 0 ? 'stored_in_part' : 'stored'
      const sets = [
        `state = ${add(state, 'text')}`,
        `ended_at = ${add(storedAt, 'bigint')}`,
        ...countColumns.map((column) => `${column} = ${add(counts[column], 'bigint')}`),
        ...(digests === undefined ? [] : [`digests = ${add(joined(digests), 'text')}`]),
        ...(answer === undefined ? [] : [`answer = ${add(answer, 'text')}`]),
      ]
      return {
        text: `update ${table} set ${sets.join(', ')}
          where id = ${add(id, 'uuid')} and state = 'running' and cancel_requested_at is null
          returning 1`,
        values,
      }
    },
    /** A key of an import that has stored nothing may be sent again. */
    fail: (
      id: string,
      { state, reason }: ImportFailure,
      digests: readonly string[] | undefined,
      now: bigint,
    ): Statement => {
      const { add, values } = openParameters(dialect)
      const kept = digests === undefined ? '' : `, digests = ${add(joined(digests), 'text')}`
      return {
        text: `update ${table} set state = ${add(state, 'text')}, reason = ${add(reason, 'text')},
            ended_at = ${add(now, 'bigint')}, ${emptied}${kept}
          where id = ${add(id, 'uuid')} and state = 'running'`,
        values,
      }
    },
    list: ({ state, kind, ofClientsOf, after, importsMax }: ImportsPart): Statement => {
      const { add, values } = openParameters(dialect)
      const conditions = [
        ...(after === undefined ? [] : [`id < ${add(after, 'uuid')}`]),
        ...(state === undefined ? [] : [`state = ${add(state, 'text')}`]),
        ...(kind === undefined ? [] : [`kind = ${add(kind, 'text')}`]),
        ...(ofClientsOf === undefined ? [] : [isOfClients(add(ofClientsOf, 'text'))]),
      ]
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
      const most = add(importsMax, 'bigint')
      return {
        text: `select ${selected} from ${table} ${where} order by id desc limit ${most}`,
        values,
      }
    },
    find: (id: string, ofClientsOf: string | undefined): Statement => {
      const { add, values } = openParameters(dialect)
      const isNamed = `id = ${add(id, 'uuid')}`
      const isSeen = ofClientsOf === undefined ? '' : `and ${isOfClients(add(ofClientsOf, 'text'))}`
      return { text: `select ${selected} from ${table} where ${isNamed} ${isSeen}`, values }
    },
    /** The purpose keys that rows name. */
    keyIds: { text: `select distinct key_id from ${table}` } satisfies Statement,
    findDigests: (digests: readonly string[], importsMax: number): Statement => {
      const { add, values } = openParameters(dialect)
      const has = digests.map((digest) => `digests like ${add(`%${digest}%`, 'text')}`)
      const most = add(importsMax, 'bigint')
      return {
        text: `select ${selected} from ${table} where ${has.join(' or ')} order by id desc limit ${most}`,
        values,
      }
    },
    /** Marks an import that runs. Its merge looks for the mark last. */
    cancel: (id: string, now: bigint): Statement => ({
      text: `update ${table} set cancel_requested_at = coalesce(cancel_requested_at, $2)
        where id = ${dialect.parameter(1, 'uuid')} and state = 'running' returning 1`,
      values: [id, now],
    }),
    /** Which imports of a process run no more, or are to end. */
    look: (ids: readonly string[]): Statement => {
      const { add, values } = openParameters(dialect)
      const list = add(dialect.list(ids), 'uuid[]')
      return {
        text: `select id from ${table} where ${dialect.isAnyOf('id', list)}
          and (state <> 'running' or cancel_requested_at is not null)`,
        values,
        prepare: true,
      }
    },
    /** Imports whose process does not hold its lock. */
    unheld: {
      text: `select id from (select id, lock_number from ${table} where state = 'running'
          order by id desc limit ${limits.importsRunningMax}) as running
        where not ${dialect.isImportLockHeld('lock_number')}`,
    } satisfies Statement,
    /** A merge that may still be committed has locked its row, which is left alone then. */
    lose: (ids: readonly string[], now: bigint): Statement => {
      const { add, values } = openParameters(dialect)
      const list = add(dialect.list(ids), 'uuid[]')
      return {
        text: `update ${table} set state = 'lost', ended_at = ${add(now, 'bigint')},
            ${emptied}, reason = ${add(LOST, 'text')}
          where id in (select id from ${table}
            where ${dialect.isAnyOf('id', list)} and state = 'running' ${dialect.forUpdate('skip')})`,
        values,
      }
    },
    /** How many of the newest run or ended lately, by state. */
    count: (now: bigint): Statement => ({
      text: `select state, count(*) as imports
        from (select state, ended_at from ${table}
          order by id desc limit ${limits.importsCountedMax}) as newest
        where ended_at is null or ended_at > $1 group by state`,
      values: [now - BigInt(limits.importsEndedCountedMs) * 1000n],
    }),
    /** Deletes the oldest rows that are too old. */
    sweep: (now: bigint, keptDays: number): Statement => ({
      text: `delete from ${table} where id in (
          select id from ${table} order by id limit ${limits.importsSweptMax})
        and started_at < $1 and state <> 'running'`,
      values: [now - BigInt(keptDays) * DAY_MICROS],
    }),
  }
}

const LOST = 'its process has ended, and nothing of it is stored'

const isOfClients = (customer: string): string => `client_id is not null and bound_to = ${customer}`

function valuesOf(row: BegunRow): Readonly<Record<keyof typeof begun, Value>> {
  const { importer } = row
  const file = 'clientId' in importer ? undefined : importer
  return {
    id: row.id,
    kind: row.kind,
    client_id: 'clientId' in importer ? importer.clientId : null,
    os_user: file?.user ?? null,
    sudo_user: file?.sudoUser ?? null,
    file: file?.file ?? null,
    files: file?.files ?? null,
    bound_to: row.boundTo ?? null,
    lock_number: row.lockNumber,
    key_id: row.keyId,
    digests: joined(row.digests),
    idempotency_key: row.idempotencyKey ?? null,
    fingerprint: row.fingerprint ?? null,
  }
}
