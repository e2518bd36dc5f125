import { commandHint } from '@bursar/base'
import type { SessionSettings } from './sessions.ts'

/** What a setting must be, and the reason as a clause. */
type Required = {
  readonly value: string
  readonly why: string
  /** It is PostgreSQL's own default, so a session has another one only if somebody set it. */
  readonly isDefault?: boolean
  /** What to do where it differs, if that is not what mends other settings. */
  readonly fix?: string
}

/**
 * Settings of a session on which reading and locking rest. Roles, databases and hosts have defaults
 * of their own, so each session sets them as it starts. No setting is here for speed.
 */
const pinned: Readonly<Record<string, Required>> = {
  client_encoding: { value: 'UTF8', why: 'text is read and written as UTF-8', isDefault: true },
  bytea_output: { value: 'hex', why: 'bytes are read as hexadecimal digits', isDefault: true },
  DateStyle: { value: 'ISO, YMD', why: 'a time as text reads the same on every server' },
  TimeZone: { value: 'UTC', why: 'a time as text reads the same on every server' },
  standard_conforming_strings: {
    value: 'on',
    why: 'a backslash in a statement stands for itself',
    isDefault: true,
  },
  array_nulls: { value: 'on', why: 'a null in a list of values stays null', isDefault: true },
  default_transaction_isolation: {
    value: 'read committed',
    why: 'a statement that waited for a lock reads what was committed meanwhile',
    isDefault: true,
  },
  default_transaction_read_only: {
    value: 'off',
    why: 'changes are refused otherwise',
    isDefault: true,
  },
  row_security: {
    value: 'on',
    why: 'row-level security limits a statement instead of refusing it',
    isDefault: true,
  },
  search_path: {
    value: 'pg_catalog',
    why: 'functions and operators are those of PostgreSQL',
  },
  log_parameter_max_length_on_error: {
    value: '0',
    why: 'values of records do not reach the log of the server',
    isDefault: true,
  },
  quote_all_identifiers: {
    value: 'off',
    why: 'the program compares definitions of objects with its own',
    isDefault: true,
  },
  // The warnings that the driver reads are of this level.
  client_min_messages: {
    value: 'warning',
    why: 'a warning says that a commit was not replicated',
  },
  // It would skip the setting of a tenant that it has seen before: docs/decisions/0031.
  enable_memoize: { value: 'off', why: 'a statement names each of its customers in turn' },
}

const TAKE_BACK =
  'as an administrator, take it back where its source is: the role (user), the database, or the configuration file'

/** A session has other settings than it starts with only if a pooler has dropped them. */
const SET_BY_MIGRATE = `run ${commandHint('migrate')} with BURSAR_POOLER=transaction and the same BURSAR_DATABASE_TIMEOUT_MS, then let the pooler open new sessions: RECONNECT in PgBouncer’s console`

/** What no session may set, so that each session of a server is checked for it. */
const fixed: Readonly<Record<string, Required>> = {
  server_encoding: {
    value: 'UTF8',
    why: 'other encodings cannot store or compare every text',
    fix: "make another database with `encoding 'UTF8' template template0` and move what is stored to it",
  },
  session_replication_role: {
    value: 'origin',
    why: 'triggers number the changes of clients and keep guaranteed fees as they are',
  },
  zero_damaged_pages: { value: 'off', why: 'a damaged page is an error, not an empty page' },
  ignore_checksum_failure: { value: 'off', why: 'a damaged page is an error, not a record' },
}

const valuesOf = (settings: Readonly<Record<string, Required>>): SessionSettings =>
  Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value]))

/** What a session starts with. */
export const pinnedSettings = valuesOf(pinned)

/** Only PostgreSQL 17 and later have this setting, so a session cannot start with it. */
export const endTransactionTimeout = `(
  select set_config('transaction_timeout', '0', false)
  where current_setting('transaction_timeout', true) <> '0')`

/** What each session of a server must have. */
export const requiredSettings = valuesOf({ ...pinned, ...fixed })

/** What `migrate` requires. It sets the others, for a pooler that drops them. */
export const fixedSettings = valuesOf(fixed)

/** What a session of a command must have, also behind a pooler that refuses or drops settings. */
export const defaultSettings = valuesOf(
  Object.fromEntries(Object.entries(pinned).filter(([, { isDefault }]) => isDefault)),
)

export const whyRequired = (name: string): string =>
  ({ ...pinned, ...fixed })[name]?.why ?? 'plans and deadlines of statements depend on it'

export const fixOf = (name: string): string =>
  fixed[name]?.fix ?? (Object.hasOwn(fixed, name) ? TAKE_BACK : SET_BY_MIGRATE)
