import { isLoopback } from './machine/loopback.ts'

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
  const known = [...parameters.keys()].every((name) => name === 'sslmode')
  if (user === '' || !known || (sslmode !== undefined && !sslmodes.has(sslmode))) return undefined
  try {
    const credentials = {
      user: decodeURIComponent(user),
      pass: decodeURIComponent(password.join(':')),
      database: decodeURIComponent(database),
    }
    return hosts.split(',').map((part) => addressOf(part, credentials, sslmode))
  } catch {
    return undefined
  }
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
  const { hostname, port, pathname } = new URL(`http://${part}`)
  if (pathname !== '/') throw new TypeError('a host must not have a path')
  // Only a URL writes an IPv6 address in brackets.
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  // An http URL drops its default port, 80.
  const number = port === '' ? (part.endsWith(':80') ? 80 : 5432) : Number(port)
  // Whoever is on the path to another machine could read passwords and change records.
  const ssl = sslmode ?? (isLoopback(host) ? 'disable' : 'verify-full')
  const credentials = { ...login, ssl: ssl === 'disable' ? (false as const) : ssl }
  return { host, port: number, label: `${hostname}:${number}`, credentials }
}
