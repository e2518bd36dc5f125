import { type LogLevel, logLevels } from './log.ts'
import { readPostgresUrl } from './postgres-url.ts'
import {
  databaseUrl,
  flag,
  integer,
  isAddressRange,
  isOrigin,
  list,
  masterKey,
  oneOf,
  text,
  trustedIssuers,
  url,
} from './setting-kinds.ts'

const postgresForm = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'
const isPostgres = (given: string): boolean => readPostgresUrl(given) !== undefined
const isStore = (given: string): boolean => /^sqlite:./.test(given) || isPostgres(given)

/**
 * Every setting by its name in `bursar.config.json`. The tests fail when one of them is missing from
 * docs/configuration.md.
 */
export const settings = {
  databaseUrl: databaseUrl(
    'sqlite:data/bursar.db',
    {
      env: 'DATABASE_URL',
      flag: 'database',
      meaning:
        'The store: `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Several `HOST:PORT` between commas: the primary is whichever of them is none’s standby. `?sslmode=` takes `disable`, `require` and `verify-full`.',
    },
    { isOne: isStore, what: `sqlite:PATH or ${postgresForm}` },
  ),
  operatorDatabaseUrl: databaseUrl(
    undefined,
    {
      env: 'OPERATOR_DATABASE_URL',
      meaning:
        'The same database as the operator’s role. Every command but `serve` uses it before `DATABASE_URL`; `serve` offers ingest, and sweeps old quotes, only where it is set. Without meaning on the embedded store.',
    },
    { isOne: isPostgres, what: postgresForm },
  ),
  databaseReadUrls: list(
    [],
    {
      env: 'DATABASE_READ_URLS',
      meaning: 'Standbys that pages and single records are read from, one server each.',
    },
    { isOne: isPostgres, what: `URLs of the form ${postgresForm}` },
  ),
  replicaLagMsMax: integer(2000, 100, 600_000, {
    env: 'BURSAR_REPLICA_LAG_MS_MAX',
    meaning: 'A standby that is further behind than these milliseconds is not read from.',
  }),
  databaseConnectionsMax: integer(10, 1, 500, {
    env: 'BURSAR_DATABASE_CONNECTIONS_MAX',
    meaning:
      'Sessions with each PostgreSQL server that a process opens for requests; two more look after it.',
  }),
  databaseTimeoutMs: integer(900, 100, 60_000, {
    env: 'BURSAR_DATABASE_TIMEOUT_MS',
    meaning:
      'When PostgreSQL has not answered a request within these milliseconds, the answer is 503.',
  }),
  host: text('127.0.0.1', { env: 'HOST', flag: 'host', meaning: 'The address to listen on.' }),
  port: integer(8080, 0, 65_535, {
    env: 'PORT',
    flag: 'port',
    meaning: 'The port to listen on; 0 takes a free one.',
  }),
  workers: integer(1, 1, 64, {
    env: 'BURSAR_WORKERS',
    flag: 'workers',
    meaning: 'Processes that `serve` answers with, on one port over one store.',
  }),
  publicUrl: url({
    env: 'BURSAR_PUBLIC_URL',
    meaning: 'The issuer of tokens and the base of links. `http://HOST:PORT` where it is not set.',
  }),
  logLevel: oneOf<LogLevel>('info', logLevels, {
    env: 'LOG_LEVEL',
    meaning: `How much is logged: ${logLevels.join(', ')}.`,
  }),
  masterKey: masterKey({
    env: 'BURSAR_MASTER_KEY',
    meaning:
      'Wraps the keys that the store holds: 32 bytes in base64. Without it the embedded store keeps a 0600 file beside itself.',
  }),
  previousMasterKey: masterKey({
    env: 'BURSAR_MASTER_KEY_PREVIOUS',
    meaning: 'The master key before this one, while the store moves from one to the other.',
  }),
  corsOrigins: list(
    [],
    {
      env: 'BURSAR_CORS_ORIGINS',
      meaning: 'Origins whose pages may call the API from a browser; none by default.',
    },
    { isOne: isOrigin, what: 'origins such as https://app.example.com' },
  ),
  trustedProxies: list(
    [],
    {
      env: 'BURSAR_TRUSTED_PROXIES',
      meaning:
        'Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is believed; none by default.',
    },
    { isOne: isAddressRange, what: 'IP addresses or CIDR ranges' },
  ),
  requestsPerSecondMax: integer(0, 0, 1_000_000, {
    env: 'BURSAR_REQUESTS_PER_SECOND_MAX',
    meaning: 'Requests of one client in a second, on each process; 0 is no limit.',
  }),
  statementTypes: list(['STATEMENT_TYPE_USDG_REWARD'], {
    env: 'BURSAR_STATEMENT_TYPES',
    meaning: 'The statement types that import takes.',
  }),
  statementProducts: list(['USDG_REWARDS'], {
    env: 'BURSAR_STATEMENT_PRODUCTS',
    meaning: 'The statement products that import takes.',
  }),
  addressTestnets: flag(false, {
    env: 'BURSAR_ADDRESS_TESTNETS',
    meaning: 'Accept addresses of test networks beside the main ones.',
  }),
  requireEvmChecksum: flag(false, {
    env: 'BURSAR_REQUIRE_EVM_CHECKSUM',
    meaning: 'Refuse EVM addresses in one case, which carry no checksum.',
  }),
  feeSchedule: text(undefined, {
    env: 'BURSAR_FEE_SCHEDULE',
    meaning:
      'A JSON file that is merged over the embedded fee schedule; read again on SIGHUP (docs/fees.md).',
  }),
  acceptSampleFees: flag(false, {
    env: 'BURSAR_ACCEPT_SAMPLE_FEES',
    meaning: 'Quote fees by the sample schedule and its placeholder prices.',
  }),
  feeQuotesOpenMax: integer(1000, 1, 1_000_000_000, {
    env: 'BURSAR_FEE_QUOTES_OPEN_MAX',
    meaning: 'Guaranteed fees that one client may hold open at a time.',
  }),
  tokenLifeSeconds: integer(900, 60, 3600, {
    env: 'BURSAR_TOKEN_LIFE_SECONDS',
    meaning: 'How long an access token is good for.',
  }),
  credentialsAgeSecondsMax: integer(60, 5, 3600, {
    env: 'BURSAR_CREDENTIALS_AGE_SECONDS_MAX',
    meaning:
      'When clients, keys and revoked tokens could not be read for so long, requests answer 503.',
  }),
  trustedIssuers: trustedIssuers({
    env: 'BURSAR_TRUSTED_ISSUERS',
    meaning:
      'Other OAuth 2 servers whose tokens are accepted: an array (JSON in the environment) as docs/oauth.md describes.',
  }),
} as const
