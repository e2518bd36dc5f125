import { cryptoNetworks } from '../values/network.ts'

/** A list of values that a lower layer cannot know. The composition root gives it. */
export type GivenList = 'operations' | 'statuses' | 'refusals' | 'kinds'

/** Every value that a label may have. Whatever a program passes besides counts as `other`. */
type LabelValues = readonly string[] | GivenList

type Labels = Readonly<Record<string, LabelValues>>

export type Family = {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: Labels
  /** How the values of several workers become one. Counters and histograms are added. */
  readonly merge: 'sum' | 'max'
  /** The upper bounds of a histogram. */
  readonly buckets: readonly number[]
}

const counter = <const L extends Labels>(help: string, labels: L) =>
  ({ type: 'counter', help, labels, merge: 'sum', buckets: [] }) as const

/** Several workers see one store, so what is read from it has the highest of their values. */
const gauge = <const L extends Labels>(merge: Family['merge'], help: string, labels: L) =>
  ({ type: 'gauge', help, labels, merge, buckets: [] }) as const

const histogram = <const L extends Labels>(help: string, labels: L, buckets: readonly number[]) =>
  ({ type: 'histogram', help, labels, merge: 'sum', buckets }) as const

/** Reads take less than a millisecond. An alert compares the bound of half a second. */
const requestSeconds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10]
const waitSeconds = [0.001, 0.01, 0.1, 0.25, 0.5, 1]
const batchSeconds = [0.001, 0.005, 0.025, 0.1, 0.5, 1]
const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** The sessions of each database role and use. The embedded store has none. */
const pools = ['customers', 'credentials', 'operator', 'ingest'] as const
const batches = [
  'audit entries',
  'clients',
  'consumptions',
  'fee quotes',
  'gets',
  'pages',
  'past pages',
  'records',
  'revisions',
] as const

/**
 * Every family of metrics: its type, what it says, and its labels with every value that each may
 * have. The product of these bounds the number of time series. A label never names a customer, a
 * client or a record. Names and units are OpenTelemetry's semantic conventions, where these have
 * one.
 */
export const families = {
  http_server_request_duration_seconds: histogram(
    'Seconds from the head of a request to the last byte of its answer, by operation and status.',
    { operation: 'operations', status: 'statuses' },
    requestSeconds,
  ),
  nodejs_eventloop_delay_p99_seconds: gauge(
    'max',
    'How late the event loop of a process is, at the 99th percentile of 15 to 30 seconds.',
    {},
  ),
  nodejs_eventloop_delay_max_seconds: gauge(
    'max',
    'How late the event loop of a process is, at most in 15 to 30 seconds.',
    {},
  ),
  db_client_connection_count: gauge('sum', 'Open sessions with PostgreSQL, by pool and state.', {
    db_client_connection_pool_name: pools,
    db_client_connection_state: ['used', 'idle'],
  }),
  db_client_connection_pending_requests: gauge(
    'sum',
    'Requests that wait for a session, by pool.',
    {
      db_client_connection_pool_name: pools,
    },
  ),
  db_client_connection_wait_time_seconds: histogram(
    'Seconds that requests have waited for a session, by pool.',
    { db_client_connection_pool_name: pools },
    waitSeconds,
  ),
  bursar_batch_size: histogram(
    'Requests that have shared a statement or a commit, by what they ask for.',
    { batch: batches },
    batchSizes,
  ),
  bursar_batch_duration_seconds: histogram(
    'Seconds that such a statement or commit has taken.',
    { batch: batches },
    batchSeconds,
  ),
  bursar_kept_pages_total: counter('Requests for lists, by whether a kept page answered them.', {
    result: ['hit', 'miss'],
  }),
  bursar_unopened_bodies_total: counter('Sealed bodies that did not open, by reason.', {
    reason: ['missing_key', 'changed'],
  }),
  bursar_source_age_seconds: gauge(
    'max',
    'Seconds since credentials, prices or the costs of a network were last read.',
    { source: ['credentials', 'prices', 'price_table', 'cost_table', ...cryptoNetworks] },
  ),
  bursar_source_age_limit_seconds: gauge('max', 'The age at which they are too old to answer by.', {
    source: ['credentials', 'prices', 'price_table', 'cost_table', ...cryptoNetworks],
  }),
  bursar_open_quotes: gauge('max', 'Guaranteed fees that are neither consumed nor expired.', {}),
  bursar_imports: gauge(
    'max',
    'Imports that run, by state, and those that ended in the last hour. Some records of one in stored_in_part were rejected.',
    { state: ['running', 'stored', 'stored_in_part', 'refused', 'cancelled', 'lost'] },
  ),
  bursar_token_requests_total: counter('Requests for an access token, by outcome.', {
    outcome: [
      'issued',
      'invalid_request',
      'invalid_client',
      'invalid_scope',
      'unauthorized_client',
      'unsupported_grant_type',
      'rate_limited',
      'failed',
    ],
  }),
  bursar_tokens_refused_total: counter('Access tokens that were refused, by reason.', {
    reason: 'refusals',
  }),
  bursar_waiting_event_requests: gauge(
    'sum',
    'Requests that wait for an event of a customer, or a change of any.',
    {},
  ),
  bursar_audit_queue_entries: gauge('sum', 'Entries of the audit log that wait for a commit.', {}),
  bursar_damaged_records: gauge(
    'max',
    'Records that are damaged, or differ from what is derived from them.',
    {
      kind: 'kinds',
    },
  ),
} as const satisfies Readonly<Record<string, Family>>

export type FamilyName = keyof typeof families

export type FamilyOf<T extends Family['type']> = {
  [F in FamilyName]: (typeof families)[F]['type'] extends T ? F : never
}[FamilyName]

/** The labels of a family, each with one of its values. */
export type LabelsOf<F extends FamilyName> = {
  readonly [L in keyof (typeof families)[F]['labels']]: (typeof families)[F]['labels'][L] extends readonly (infer Value extends
    string)[]
    ? Value
    : string
}

export type PoolName = (typeof pools)[number]
export type BatchName = (typeof batches)[number]
