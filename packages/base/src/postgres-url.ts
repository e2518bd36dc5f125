import { isLoopback } from './machine/loopback.ts'
import { attempt } from './values/attempt.ts'
import { hintOf } from './values/closest.ts'
import { httpUrlFault } from './values/given-text.ts'

/** One PostgreSQL server of a connection URL. */
export type ServerAddress = {
  readonly host: string
  readonly port: number
  /** `host:port`, for logs and `/readyz`. */
  readonly label: string
  readonly credentials: {
    readonly user: string
    readonly pass: string
    readonly database: string
    readonly ssl: false | string
  }
}

/** Reads a connection URL. Undefined if it is malformed. Only host and port may be shown. */
export function readPostgresUrl(url: string): readonly ServerAddress[] | undefined {
  const match = form.exec(url)
  if (match === null) return undefined
  const [, login = '', hosts = '', database = '', query = ''] = match
  const [user = '', ...password] = login.split(':')
  const parameters = new URLSearchParams(query)
  const sslmode = parameters.get('sslmode') ?? undefined
  if (user === '' || queryFault(parameters) !== undefined) return undefined
  return attempt(() => {
    const credentials = {
      user: decodeURIComponent(user),
      pass: decodeURIComponent(password.join(':')),
      database: decodeURIComponent(database),
    }
    return hosts.split(',').map((part) => addressOf(part, credentials, sslmode))
  })
}

/** `postgres://user:password@host1:5432,host2:5432/database?sslmode=verify-full` */
const form = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/

/** `allow` and `prefer` are missing: they silently fall back to no encryption. */
const sslmodes = new Set(['disable', 'require', 'verify-full'])

function addressOf(
  part: string,
  login: Omit<ServerAddress['credentials'], 'ssl'>,
  sslmode: string | undefined,
): ServerAddress {
  const fault = httpUrlFault(`http://${part}`)
  if (fault !== undefined) throw new TypeError(fault)
  const { hostname, port } = new URL(`http://${part}`)
  // Only a URL writes an IPv6 address in brackets.
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  // An http URL drops its default port, 80.
  const number = port === '' ? (part.endsWith(':80') ? 80 : 5432) : Number(port)
  // An attacker on the path to another machine could read passwords and change records.
  const ssl = sslmode ?? (isLoopback(host) ? 'disable' : 'verify-full')
  const credentials = { ...login, ssl: ssl === 'disable' ? (false as const) : ssl }
  return { host, port: number, label: `${hostname}:${number}`, credentials }
}

const postgresForm = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'

/**
 * What is wrong with the URL of a store: the rest of a sentence that starts with its setting. It
 * quotes nothing of the URL, since a mistake can put the password anywhere.
 */
export function storeUrlFault(url: string): string | undefined {
  // Other programs read these as a URI and as a store in memory. This one would take them as names.
  if (/^sqlite:(file:|:memory:)/.test(url)) {
    return 'must name a file by its path alone; write sqlite:PATH, without file: or :memory:'
  }
  if (/^sqlite:./.test(url)) return undefined
  if (url === 'sqlite:') return 'names no file after sqlite:; write sqlite:PATH'
  if (/^postgres(ql)?:/.test(url)) return postgresUrlFault(url)
  return `must start with sqlite: or postgres://, as in sqlite:PATH or ${postgresForm}`
}

export function postgresUrlFault(url: string): string | undefined {
  if (readPostgresUrl(url) !== undefined) return undefined
  return `${partAtFault(url)}; its form is ${postgresForm}`
}

function partAtFault(url: string): string {
  const match = /^postgres(?:ql)?:\/\/(.*)$/s.exec(url)
  if (match === null) return 'must start with postgres://'
  const [, rest = ''] = match
  if (/\s/.test(rest)) return 'has a blank; write a blank in the user name or password as %20'
  if (/%(?![0-9a-fA-F]{2})/.test(rest))
    return 'has a % that starts no escape; write % itself as %25'
  const at = rest.lastIndexOf('@')
  const login = rest.slice(0, Math.max(0, at))
  const address = rest.slice(at + 1)
  if (at < 0 || login.startsWith(':') || login === '') return 'names no user before the host'
  if (login.includes('@')) {
    return 'has an @ in the user name or password; write it as %40'
  }
  if (/[/?#]/.test(login)) {
    return 'has a /, ? or # in the user name or password; write it as %2F, %3F or %23'
  }
  const [, hosts = '', path = '', query = ''] = /^([^/?#]*)([^?#]*)(.*)$/s.exec(address) ?? []
  if (hosts.split(',').some((host) => host.replace(/:[^:\]]*$/, '') === '')) return 'names no host'
  if (hosts.split(',').some(hasBadPort)) return 'has a port that is no number from 1 to 65535'
  if (path === '' || path === '/') return 'names no database after the host'
  if (path.lastIndexOf('/') > 0) return 'has a / in the name of the database; write it as %2F'
  if (query.includes('#')) return 'has a #; write it as %23'
  return queryFault(new URLSearchParams(query)) ?? 'has a host that is no name and no address'
}

function hasBadPort(host: string): boolean {
  const port = /:([^:\]]*)$/.exec(host)?.[1]
  return (
    port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536)
  )
}

/** The first parameter that is neither used nor states what the program does anyway. */
function queryFault(parameters: URLSearchParams): string | undefined {
  for (const [name, value] of parameters) {
    if (name === 'sslmode') {
      if (parameters.getAll(name).length > 1) return 'has sslmode twice; write it once'
      if (sslmodes.has(value)) continue
      return `has an unknown sslmode; it is disable, require or verify-full${hintOf(value, [...sslmodes])}`
    }
    const harmless = Object.hasOwn(stated, name) ? stated[name] : undefined
    if (harmless?.includes(value.toLowerCase()) === true) continue
    // Only what looks like a name is shown: a mistake can put the password anywhere.
    const shown = /^[a-z][a-z_]{0,40}$/i.test(name) ? `the parameter ${name}` : 'a parameter'
    const remedy = Object.hasOwn(remedies, name)
      ? remedies[name]
      : `take it out${hintOf(name, ['sslmode'])}`
    return `has ${shown} after the ?, which is not used here; ${remedy}`
  }
  return undefined
}

/** Values that hosts put in the URLs they show, and that change nothing. */
const stated: Readonly<Record<string, readonly string[]>> = {
  channel_binding: ['disable', 'prefer'],
  client_encoding: ['utf8', 'utf-8', 'auto'],
  gssencmode: ['disable', 'prefer'],
  sslnegotiation: ['postgres'],
  target_session_attrs: ['any', 'read-write', 'primary'],
}

const ownAuthority = 'take it out, and set NODE_EXTRA_CA_CERTS to the file of the authority'
const ownPool = 'take it out; BURSAR_DATABASE_CONNECTIONS_MAX sets the size of the pool'
const ownTime = 'take it out; BURSAR_DATABASE_TIMEOUT_MS sets how long an answer may take'
const inAddress = 'write it before the ?'
const noCertificate = 'take it out, and log in with a password'

/** What to do instead. Every other parameter is taken out. */
const remedies: Readonly<Record<string, string>> = {
  channel_binding: 'take it out, and use sslmode=verify-full against an attacker on the way',
  sslrootcert: ownAuthority,
  sslcrl: ownAuthority,
  ssl: 'write sslmode=verify-full',
  requiressl: 'write sslmode=verify-full',
  sslnegotiation: 'take it out; the server must take TLS in the usual way',
  sslcert: noCertificate,
  sslkey: noCertificate,
  passfile: noCertificate,
  require_auth: noCertificate,
  application_name: 'take it out; the program names its sessions itself',
  fallback_application_name: 'take it out; the program names its sessions itself',
  target_session_attrs: 'take it out; name standbys in DATABASE_READ_URLS',
  load_balance_hosts: 'take it out; name standbys in DATABASE_READ_URLS',
  pgbouncer: 'take it out, and set BURSAR_POOLER=transaction',
  connection_limit: ownPool,
  pool_timeout: ownPool,
  connect_timeout: ownTime,
  tcp_user_timeout: ownTime,
  statement_timeout: ownTime,
  host: inAddress,
  hostaddr: inAddress,
  port: inAddress,
  user: inAddress,
  password: inAddress,
  dbname: inAddress,
}
