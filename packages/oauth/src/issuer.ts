import { type Config, ConfigError, isLoopback, type Logger, readPostgresUrl } from '@bursar/base'

type ServerConfig = Pick<Config, 'publicUrl' | 'host' | 'databaseUrl'>

/**
 * Throws a ConfigError if the public URL, which is the issuer of tokens and the base of links,
 * cannot be derived from host and port: callers or other processes know this server by another.
 */
export function requirePublicUrl({ publicUrl, host, databaseUrl }: ServerConfig): void {
  if (publicUrl !== undefined) return
  if (!isLoopback(host)) {
    throw new ConfigError(
      `BURSAR_PUBLIC_URL must be set, because the host ${host} is not a loopback address. Set it to the URL that callers use, such as https://api.example.com; it is the issuer of tokens.`,
    )
  }
  const remote = readPostgresUrl(databaseUrl)?.find((server) => !isLoopback(server.host))
  if (remote !== undefined) {
    throw new ConfigError(
      `BURSAR_PUBLIC_URL must be set, because other machines may share the store on ${remote.label}. Set it to the same URL for every process, such as https://api.example.com; otherwise each refuses the others' tokens.`,
    )
  }
}

/** Warns if callers on other machines send secrets and tokens without encryption. */
export function warnOfPlainHttp({ publicUrl }: Pick<Config, 'publicUrl'>, log: Logger): void {
  const { protocol, hostname, host } = new URL(publicUrl ?? 'https://localhost')
  if (protocol === 'https:' || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))) return
  log.warn(
    { publicHost: host },
    'BURSAR_PUBLIC_URL is a plain http URL, so secrets, tokens and records are sent unencrypted; use https, with a proxy that terminates TLS',
  )
}

/**
 * Compares the issuer with that of another live process on the same store. A derived issuer that
 * differs is a ConfigError. A configured one is a warning, because the public URL may be changing.
 */
export function requireOneIssuer(
  { config, log }: { readonly config: Pick<Config, 'publicUrl'>; readonly log: Logger },
  issuer: string,
  other: string | undefined,
): void {
  if (other === undefined) return
  if (config.publicUrl === undefined) {
    throw new ConfigError(
      `Another process serves this store as ${other}, and this one would serve it as ${issuer}, so each would refuse the other's tokens. Set BURSAR_PUBLIC_URL to the same URL for both, or use serve --workers.`,
    )
  }
  log.warn(
    { issuer, other },
    'another process serves this store under another issuer, so each refuses the other’s tokens; set BURSAR_PUBLIC_URL to the same URL for both',
  )
}
