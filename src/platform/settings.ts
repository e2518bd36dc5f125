import { isIP } from 'node:net'
import { type LogLevel, logLevels } from './log.ts'
import { Secret } from './secret.ts'
import { parseTrustedIssuers, type TrustedIssuer } from './trusted-issuers.ts'

type Parsed<T> = { readonly value: T } | { readonly fault: string }

/** One setting: where it comes from, how it is read, and its line in docs/configuration.md. */
export type Setting<T> = {
  readonly env: string
  readonly flag?: string
  readonly fallback: T
  readonly parse: (given: unknown) => Parsed<T>
  readonly meaning: string
}

type Naming = { readonly env: string; readonly flag?: string; readonly meaning: string }

/**
 * Every setting by its name in `bursar.config.json`. The tests fail when one of them is missing from
 * docs/configuration.md.
 */
export const settings = {
  databaseUrl: databaseUrl('sqlite:data/bursar.db', {
    env: 'DATABASE_URL',
    flag: 'database',
    meaning: 'The store: `sqlite:PATH`.',
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

function text<T extends string | undefined>(fallback: T, naming: Naming): Setting<string | T> {
  const parse = (given: unknown): Parsed<string> =>
    typeof given === 'string' && given !== '' ? { value: given } : { fault: 'must be text' }
  return { ...naming, fallback, parse }
}

function databaseUrl(fallback: string, naming: Naming): Setting<string> {
  const parse = (given: unknown): Parsed<string> =>
    typeof given === 'string' && /^sqlite:./.test(given)
      ? { value: given }
      : { fault: 'must be sqlite:PATH' }
  return { ...naming, fallback, parse }
}

function integer(fallback: number, min: number, max: number, naming: Naming): Setting<number> {
  const parse = (given: unknown): Parsed<number> => {
    const value = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given
    return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? { value }
      : { fault: `must be a whole number from ${min} to ${max}` }
  }
  return { ...naming, fallback, parse }
}

function flag(fallback: boolean, naming: Naming): Setting<boolean> {
  const parse = (given: unknown): Parsed<boolean> => {
    if (given === true || given === 'true') return { value: true }
    if (given === false || given === 'false') return { value: false }
    return { fault: 'must be true or false' }
  }
  return { ...naming, fallback, parse }
}

function oneOf<T extends string>(fallback: T, members: readonly T[], naming: Naming): Setting<T> {
  const parse = (given: unknown): Parsed<T> => {
    const value = members.find((member) => member === given)
    return value === undefined ? { fault: `must be one of ${members.join(', ')}` } : { value }
  }
  return { ...naming, fallback, parse }
}

/** What each entry of a list must be. */
type Entry = { readonly isOne: (text: string) => boolean; readonly what: string }

function isAddressRange(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/')
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? -1
  return rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits
}

function isOrigin(text: string): boolean {
  return text.startsWith('http') && URL.parse(text)?.origin === text
}

/** A list: comma-separated in the environment, an array of strings in the file. */
function list(
  fallback: readonly string[],
  naming: Naming,
  entry: Entry = { isOne: (text) => text !== '', what: 'texts' },
): Setting<readonly string[]> {
  const parse = (given: unknown): Parsed<readonly string[]> => {
    const parts = typeof given === 'string' ? given.split(',').map((part) => part.trim()) : given
    return Array.isArray(parts) &&
      parts.every((part) => typeof part === 'string' && entry.isOne(part))
      ? { value: parts }
      : { fault: `must be a list of ${entry.what}` }
  }
  return { ...naming, fallback, parse }
}

function url(naming: Naming): Setting<string | undefined> {
  const parse = (given: unknown): Parsed<string> => {
    const parsed = typeof given === 'string' ? URL.parse(given) : null
    const plain =
      parsed !== null && parsed.search === '' && parsed.hash === '' && parsed.username === ''
    return plain && (parsed.protocol === 'https:' || parsed.protocol === 'http:')
      ? { value: String(given).replace(/\/+$/, '') }
      : { fault: 'must be an http or https URL without a query' }
  }
  return { ...naming, fallback: undefined, parse }
}

function trustedIssuers(naming: Naming): Setting<readonly TrustedIssuer[]> {
  return { ...naming, fallback: [], parse: parseTrustedIssuers }
}

function masterKey(naming: Naming): Setting<Secret | undefined> {
  const parse = (given: unknown): Parsed<Secret> => {
    const isKey =
      typeof given === 'string' &&
      /^[A-Za-z0-9+/]{43}=?$/.test(given) &&
      Buffer.from(given, 'base64').length === 32
    return isKey
      ? { value: new Secret(given) }
      : { fault: 'must be 32 bytes in base64, as `openssl rand -base64 32` prints them' }
  }
  return { ...naming, fallback: undefined, parse }
}
