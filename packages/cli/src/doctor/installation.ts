import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  baseLimits,
  type Check,
  type Config,
  descriptorAdvice,
  descriptorsWanted,
  type Finding,
  isLoopback,
  isOpenToOthers,
  limitsOf,
  readDescriptorLimit,
  readPostgresUrl,
  type ServerAddress,
} from '@bursar/base'

const limits = limitsOf({
  /** Free space below which `doctor` warns: the largest stream, its merge and its log. */
  diskFreeBytesMin: 2 * 1024 * 1024 * 1024,
})

/** What the checks of an installation read, beside the configuration. */
export type Installation = {
  readonly config: Config
  /** The configuration file, if there is one. */
  readonly file: string | undefined
  /** Folders that the program writes to. One that does not exist yet counts as its parent. */
  readonly folders: readonly string[]
  readonly freeBytesOf: (folder: string) => number
  readonly descriptors?: number | undefined
}

/** Checks what needs no store: settings that fit each other, and this machine. */
export const installationChecks = (installation: Installation): readonly Check[] => [
  { name: 'public-url', find: () => publicUrlFindings(installation.config) },
  { name: 'workers', find: () => workerFindings(installation.config) },
  { name: 'proxies', find: () => proxyFindings(installation.config) },
  { name: 'tls', find: () => addressesOf(installation.config).flatMap(tlsFindings) },
  { name: 'configuration-file', find: () => fileFindings(installation.file) },
  { name: 'descriptors', find: () => descriptorFindings(installation) },
  { name: 'disk', find: () => diskFindings(installation) },
]

const isLocal = (url: string): boolean =>
  isLoopback(new URL(url).hostname.replace(/^\[(.*)\]$/, '$1'))

function publicUrlFindings({ publicUrl, host, databaseUrl }: Config): readonly Finding[] {
  const fix = 'set BURSAR_PUBLIC_URL to the https URL that callers use'
  if (publicUrl !== undefined) {
    if (publicUrl.startsWith('https:') || isLocal(publicUrl)) return []
    const why = 'anyone on the way reads secrets, tokens and records'
    return [{ what: 'BURSAR_PUBLIC_URL is a plain http URL', why, fix }]
  }
  const remote = readPostgresUrl(databaseUrl)?.find((server) => !isLoopback(server.host))
  if (isLoopback(host) && remote === undefined) return []
  const why = 'it is the issuer of tokens, so serve does not start without it'
  return [{ what: 'BURSAR_PUBLIC_URL is not set', why, fix }]
}

function workerFindings({ workers, databaseUrl }: Config): readonly Finding[] {
  if (workers === 1 || readPostgresUrl(databaseUrl) !== undefined) return []
  return [
    {
      what: `${workers} workers are configured on an embedded store`,
      why: 'one process serves it, so serve does not start',
      fix: 'set BURSAR_WORKERS to 1, or DATABASE_URL to a PostgreSQL database',
    },
  ]
}

/** The program ends no TLS, so there is a proxy where callers use https. */
function proxyFindings({ publicUrl, trustedProxies }: Config): readonly Finding[] {
  const everyone = trustedProxies.filter((range) => range.endsWith('/0'))
  if (everyone.length > 0) {
    return [
      {
        what: `BURSAR_TRUSTED_PROXIES trusts every address (${everyone.join(', ')})`,
        why: 'a caller chooses the address that limits and logs go by',
        fix: 'name the addresses of your proxies only',
      },
    ]
  }
  if (trustedProxies.length > 0 || publicUrl === undefined) return []
  if (!publicUrl.startsWith('https:') || isLocal(publicUrl)) return []
  return [
    {
      what: 'callers use https, but BURSAR_TRUSTED_PROXIES names no proxy that ends TLS',
      why: 'all callers count as one address, so a few wrong secrets of one lock out all',
      fix: 'name the addresses of your proxies in BURSAR_TRUSTED_PROXIES',
    },
  ]
}

/** Every server of a database URL, with the setting that names it. */
function addressesOf(config: Config) {
  const { databaseUrl, operatorDatabaseUrl, databaseReadUrls } = config
  const named = [
    ['DATABASE_URL', databaseUrl],
    ['OPERATOR_DATABASE_URL', operatorDatabaseUrl ?? ''],
    ...databaseReadUrls.map((url) => ['DATABASE_READ_URLS', url] as const),
  ] as const
  return named.flatMap(([setting, url]) =>
    (readPostgresUrl(url) ?? []).map((address) => ({ setting, address })),
  )
}

function tlsFindings({
  setting,
  address: { label, host, credentials },
}: {
  readonly setting: string
  readonly address: ServerAddress
}): readonly Finding[] {
  if (isLoopback(host) || credentials.ssl === 'verify-full') return []
  return [
    {
      what: `${setting}: the connection to ${label} ${
        credentials.ssl === false ? 'is not encrypted' : 'does not check the server’s certificate'
      }`,
      why: 'an attacker on the way can read the password and the records, and change them',
      fix: 'use sslmode=verify-full, with NODE_EXTRA_CA_CERTS for an authority of your own',
    },
  ]
}

/**
 * The file may hold passwords and the master key. One of another owner, such as a mounted Secret of
 * Kubernetes, is read by the right of its group.
 */
function fileFindings(file: string | undefined): readonly Finding[] {
  const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || !stats.isFile()) return []
  const isOwn = stats.uid === process.getuid?.()
  if (!isOpenToOthers(isOwn ? stats.mode : stats.mode & ~0o040)) return []
  return [
    {
      what: `other users can read or write the configuration file ${file}`,
      why: 'it may hold the master key and passwords of the database',
      fix: `run \`chmod 600 ${file}\``,
    },
  ]
}

function descriptorFindings({
  descriptors = readDescriptorLimit(),
}: Installation): readonly Finding[] {
  if (descriptors === undefined || descriptors >= descriptorsWanted) return []
  return [
    {
      what: `a process may open ${descriptors} files`,
      why: `it holds fewer than ${baseLimits.connectionsMax} connections, or does not start`,
      fix: descriptorAdvice,
    },
  ]
}

function diskFindings({ folders, freeBytesOf }: Installation): readonly Finding[] {
  return [...new Set(folders.map(existing))].flatMap((folder) => {
    const free = freeBytesOf(folder)
    if (free >= limits.diskFreeBytesMin) return []
    return [
      {
        what: `the disk of ${folder} has ${Math.floor(free / MEGABYTE)} MB of free space`,
        why: 'writes and imports fail once it is full',
        fix: `free some, until it has ${Math.ceil(limits.diskFreeBytesMin / MEGABYTE)} MB`,
      },
    ]
  })
}

const existing = (folder: string): string =>
  existsSync(folder) || folder === dirname(folder) ? folder : existing(dirname(folder))

const MEGABYTE = 1_000_000
