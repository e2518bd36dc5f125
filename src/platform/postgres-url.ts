/** One PostgreSQL server of a connection URL. */
export type ServerAddress = {
  readonly host: string
  readonly port: number
  /** `host:port`, which logs and readiness may show. */
  readonly label: string
  readonly credentials: {
    readonly user: string
    readonly pass: string
    readonly database: string
    readonly ssl: false | string
  }
}

/**
 * The servers that a URL names: `postgres://user:password@host1:5432,host2:5432/database?sslmode=verify-full`. Undefined
 * where it is no such URL. Nothing of it is ever shown but host and port.
 */
export function readPostgresUrl(url: string): readonly ServerAddress[] | undefined {
  const match = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/.exec(
    url,
  )
  if (match === null) return undefined
  const [, login = '', hosts = '', database = '', query = ''] = match
  const [user = '', ...password] = login.split(':')
  const parameters = new URLSearchParams(query)
  const sslmode = parameters.get('sslmode') ?? 'disable'
  const known = [...parameters.keys()].every((name) => name === 'sslmode')
  if (user === '' || !known || !sslmodes.has(sslmode)) return undefined
  try {
    const credentials = {
      user: decodeURIComponent(user),
      pass: decodeURIComponent(password.join(':')),
      database: decodeURIComponent(database),
      ssl: sslmode === 'disable' ? (false as const) : sslmode,
    }
    return hosts.split(',').map((part) => addressOf(part, credentials))
  } catch {
    return undefined
  }
}

/** `allow` and `prefer` fall back to no encryption without a word, so they are not offered. */
const sslmodes = new Set(['disable', 'require', 'verify-full'])

function addressOf(part: string, credentials: ServerAddress['credentials']): ServerAddress {
  const { hostname, port, pathname } = new URL(`http://${part}`)
  if (pathname !== '/') throw new TypeError('a host has no path')
  // IPv6 addresses stand in brackets in a URL and nowhere else.
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  // An http URL drops its own default, 80, which nobody runs PostgreSQL on by accident.
  const number = port === '' ? (part.endsWith(':80') ? 80 : 5432) : Number(port)
  return { host, port: number, label: `${hostname}:${number}`, credentials }
}
