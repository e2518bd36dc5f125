import { Type } from 'typebox'
import { type LogLevel, logLevels } from '../log.ts'
import { postgresUrlFault, storeUrlFault } from '../postgres-url.ts'
import {
  flag,
  integer,
  list,
  masterKey,
  oneOf,
  text,
  trustedIssuers,
  url,
} from './setting-kinds.ts'

/** Every setting, by its name in the file. docs/configuration.md has one row for each. */
export const settings = {
  databaseUrl: text('sqlite:data/bursar.db', {
    env: 'DATABASE_URL',
    flag: 'database',
    faultOf: storeUrlFault,
    meaning:
      'The store: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Commas separate multiple `HOST:PORT`; one is the primary. `?sslmode=` is `disable`, `require` or `verify-full`, the network default.',
  }),
  operatorDatabaseUrl: text(undefined, {
    env: 'OPERATOR_DATABASE_URL',
    faultOf: postgresUrlFault,
    meaning:
      'The same PostgreSQL database with the operator’s role. Commands other than `serve` use it instead of `DATABASE_URL`. `serve` offers ingest, deletes old quotes and scans records for damage only if it is set.',
  }),
  databaseReadUrls: list([], {
    env: 'DATABASE_READ_URLS',
    faultOf: postgresUrlFault,
    meaning:
      'Standbys that serve reads of records, one URL each: the first that can be read serves them.',
  }),
  databaseConnectionsMax: integer(10, 1, 500, {
    env: 'BURSAR_DATABASE_CONNECTIONS_MAX',
    meaning:
      'The pool size: sessions that a process opens to each PostgreSQL server for requests. Up to seven more serve logins and watch the server.',
  }),
  databaseTimeoutMs: integer(900, 100, 60_000, {
    env: 'BURSAR_DATABASE_TIMEOUT_MS',
    meaning: 'A request answers 503 if PostgreSQL does not answer within this many milliseconds.',
  }),
  pooler: oneOf<'none' | 'transaction'>('none', ['none', 'transaction'], {
    env: 'BURSAR_POOLER',
    meaning:
      'Set `transaction` if the database URLs name a pooler that gives each transaction another session, such as PgBouncer with `pool_mode = transaction` (docs/scaling.md).',
  }),
  host: text('127.0.0.1', { env: 'HOST', flag: 'host', meaning: 'The address to listen on.' }),
  port: integer(8080, 0, 65_535, {
    env: 'PORT',
    flag: 'port',
    meaning: 'The port to listen on; 0 picks a free port.',
  }),
  operatorPort: integer(undefined, 0, 65_535, {
    env: 'BURSAR_OPERATOR_PORT',
    meaning:
      'The port where `/readyz` gives details and `/metrics` answers Prometheus, for the operator only. It needs no token. 0 picks a free port. Without this setting there is no such port, and nothing is measured.',
  }),
  operatorHost: text('127.0.0.1', {
    env: 'BURSAR_OPERATOR_HOST',
    meaning: 'The address of the operator’s port. Choose one that customers cannot reach.',
  }),
  workers: integer(1, 1, 64, {
    env: 'BURSAR_WORKERS',
    flag: 'workers',
    meaning:
      'The number of processes of `serve`, which share one port. More than one need PostgreSQL.',
  }),
  lameDuckMs: integer(3000, 0, 600_000, {
    env: 'BURSAR_LAME_DUCK_MS',
    meaning:
      'After SIGTERM, `/readyz` answers 503 and requests are still served for this many milliseconds, so that load balancers turn to other servers.',
  }),
  publicUrl: url({
    env: 'BURSAR_PUBLIC_URL',
    meaning:
      'The issuer of tokens and the base of links. The default is `http://HOST:PORT`. `serve` requires it if the host or the database is on the network, or if several servers share a store.',
  }),
  logLevel: oneOf<LogLevel>('info', logLevels, {
    env: 'LOG_LEVEL',
    meaning: `The lowest level that is logged: ${logLevels.join(', ')}.`,
  }),
  masterKey: masterKey({
    env: 'BURSAR_MASTER_KEY',
    meaning:
      'The key that encrypts the keys in the store: 32 bytes in base64. Without it, the embedded store keeps one in a file with mode 0600.',
  }),
  keyCommand: list([], {
    env: 'BURSAR_KEY_COMMAND',
    what: 'words',
    separator: ' ',
    meaning:
      'A program and its arguments, separated by blanks, that prints the master key: 32 bytes in base64. It runs at each start, without a shell, for at most 10 seconds.',
  }),
  previousMasterKey: masterKey({
    env: 'BURSAR_MASTER_KEY_PREVIOUS',
    meaning: 'The previous master key, while the store changes to a new one.',
  }),
  corsOrigins: list([], {
    env: 'BURSAR_CORS_ORIGINS',
    entries: Type.String({ format: 'origin' }),
    what: 'origins such as https://app.example.com',
    meaning: 'Origins whose pages may call the API from a browser. The default is none.',
  }),
  trustedProxies: list([], {
    env: 'BURSAR_TRUSTED_PROXIES',
    entries: Type.String({ format: 'address-range' }),
    what: 'IP addresses or CIDR ranges',
    meaning:
      'Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is trusted. The default is none.',
  }),
  connectionsPerAddressMax: integer(1000, 1, 1_000_000, {
    env: 'BURSAR_CONNECTIONS_PER_ADDRESS_MAX',
    meaning:
      'The connections, and the requests in progress, that one address (IPv6: one /64) may have in each process. The connections of trusted proxies are not limited.',
  }),
  idleConnectionSeconds: integer(620, 1, 86_400, {
    env: 'BURSAR_IDLE_CONNECTION_SECONDS',
    meaning:
      'A connection without a request is closed after this many seconds. Choose more than the idle timeout of the load balancer, so that it closes first: common ones have at most 600 (docs/scaling.md).',
  }),
  requestsPerSecondMax: integer(0, 0, 1_000_000, {
    env: 'BURSAR_REQUESTS_PER_SECOND_MAX',
    meaning:
      'The rate limit of one client, in requests a second for each process; 0 means no limit.',
  }),
  oauthRequestsPerSecondMax: integer(100, 0, 1_000_000, {
    env: 'BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX',
    meaning:
      'The rate limit of `/oauth2`, in requests a second for each process: of one address, and of one client; 0 means no limit.',
  }),
  statementTypes: list(['STATEMENT_TYPE_USDG_REWARD'], {
    env: 'BURSAR_STATEMENT_TYPES',
    meaning: 'The statement types that import accepts.',
  }),
  statementProducts: list(['USDG_REWARDS'], {
    env: 'BURSAR_STATEMENT_PRODUCTS',
    meaning: 'The statement products that import accepts.',
  }),
  importSilenceSecondsMax: integer(600, 1, 86_400, {
    env: 'BURSAR_IMPORT_SILENCE_SECONDS_MAX',
    meaning: 'An import fails if its input sends nothing for this many seconds.',
  }),
  importMergeSecondsMax: integer(3600, 10, 86_400, {
    env: 'BURSAR_IMPORT_MERGE_SECONDS_MAX',
    meaning:
      'PostgreSQL ends the transaction of an import that takes longer than this many seconds: about 60 million records. Single records of its kind wait for it. A stream has 300 seconds.',
  }),
  spoolFolder: text(undefined, {
    env: 'BURSAR_SPOOL_FOLDER',
    meaning:
      'The folder where an export keeps its lines until its reader has taken them, a stream its body until it is stored and, on PostgreSQL, an import its lines until the last one. The default is a folder of the user in the system’s temporary folder.',
  }),
  spoolMegabytesMax: integer(65_536, 16, 16_777_216, {
    env: 'BURSAR_SPOOL_MEGABYTES_MAX',
    meaning:
      'The size that these files may have together, in megabytes: two imports of the largest size, or 30 such streams.',
  }),
  addressTestnets: flag(false, {
    env: 'BURSAR_ADDRESS_TESTNETS',
    meaning: 'Accept addresses of test networks too.',
  }),
  requireEvmChecksum: flag(false, {
    env: 'BURSAR_REQUIRE_EVM_CHECKSUM',
    meaning: 'Refuse EVM addresses without a checksum: those all in lower or upper case.',
  }),
  feeSchedule: text(undefined, {
    env: 'BURSAR_FEE_SCHEDULE',
    meaning:
      'A JSON file that overrides parts of the embedded fee schedule. SIGHUP reloads it (docs/fees.md).',
  }),
  acceptSampleFees: flag(false, {
    env: 'BURSAR_ACCEPT_SAMPLE_FEES',
    meaning: 'Quote fees from the sample schedule, whose prices are placeholders.',
  }),
  feeQuotesOpenMax: integer(1000, 1, 1_000_000_000, {
    env: 'BURSAR_FEE_QUOTES_OPEN_MAX',
    meaning: 'The number of open fee quotes that one client may hold.',
  }),
  tokenLifeSeconds: integer(900, 60, 3600, {
    env: 'BURSAR_TOKEN_LIFE_SECONDS',
    meaning: 'The life of an access token, in seconds.',
  }),
  credentialsAgeSecondsMax: integer(60, 5, 3600, {
    env: 'BURSAR_CREDENTIALS_AGE_SECONDS_MAX',
    meaning:
      'Requests answer 503 if clients, keys and revoked tokens could not be read for this many seconds.',
  }),
  auditHeadsFile: text(undefined, {
    env: 'BURSAR_AUDIT_HEADS_FILE',
    meaning:
      'A file to which a server appends the heads of all audit chains each minute, and a command its own at its end, with mode 0600. Keep it where nobody who can write the database can write.',
  }),
  auditCustomerReads: flag(false, {
    env: 'BURSAR_AUDIT_CUSTOMER_READS',
    meaning:
      'List each read of records in the audit log: of customers, also of events, and of the operator, also searches and histories. By default they are counted, for each minute, client and operation. Reads in full are always listed.',
  }),
  auditRetentionDays: integer(1827, 1, 36_525, {
    env: 'BURSAR_AUDIT_RETENTION_DAYS',
    meaning: 'How long `audit prune` keeps lines of the audit log, in days: five years.',
  }),
  importRetentionDays: integer(400, 1, 36_525, {
    env: 'BURSAR_IMPORT_RETENTION_DAYS',
    meaning: 'How long the row of an import is kept, in days: more than a year.',
  }),
  console: flag(false, {
    env: 'BURSAR_CONSOLE',
    meaning: 'Serve the console at `/console` (docs/console.md). A sandbox always does.',
  }),
  consoleIdleMinutes: integer(15, 1, 1440, {
    env: 'BURSAR_CONSOLE_IDLE_MINUTES',
    meaning: 'The console signs a person out after this many minutes without a key or a click.',
  }),
  trustedIssuers: trustedIssuers({
    env: 'BURSAR_TRUSTED_ISSUERS',
    meaning:
      'Other OAuth 2 servers whose tokens Bursar accepts: an array, or JSON in the environment (docs/oauth.md).',
  }),
} as const
