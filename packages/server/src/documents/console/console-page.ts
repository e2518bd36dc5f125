import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { type Config, cryptoNetworks, isCryptoNetwork } from '@bursar/base'
import { type Body, cryptoWithdrawal, jsonAnswer, type Route } from '@bursar/contract'
import { addressPolicy, checkDestination, type FeeBasis } from '@bursar/fees'
import { readBody } from '../../pipeline/read-body.ts'
import { htmlHeaders, jsonInPage, redirect } from '../html-page.ts'
import { staticDocument } from '../static-document.ts'

/** A client of the sandbox, whose secret is public. Its name is on the button that signs in. */
export type ConsoleClient = {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
}

type ConsoleConfig = Pick<
  Config,
  'trustedIssuers' | 'consoleIdleMinutes' | 'addressTestnets' | 'requireEvmChecksum'
>

/**
 * The console at `/console/`: static files that `tools/build-console.ts` makes from `console/`.
 * Its screens are in the fragment of the URL, which no server sees.
 */
export function consolePage(
  config: ConsoleConfig,
  clients: readonly ConsoleClient[],
  feeBasis: () => FeeBasis,
): Route[] {
  const headers = headersOf(config)
  const names = readdirSync(assets).filter((name) => name.endsWith('.br'))
  return [
    redirect('/console', 'console/', 'console'),
    staticDocument({
      path: '/console/',
      operation: 'console',
      headers,
      contentType: 'text/html; charset=utf-8',
      cacheControl: 'no-cache',
      body: () => pageWith({ ...settingsOf(config), clients }),
    }),
    ...names.map((file) => {
      const name = file.slice(0, -'.br'.length)
      const compressed = () => readFile(new URL(file, assets))
      return staticDocument({
        path: `/console/${name}`,
        operation: 'console',
        headers,
        contentType: contentTypes[extname(name)] ?? 'text/plain; charset=utf-8',
        // The name holds a digest of the content.
        cacheControl: 'public, max-age=31536000, immutable',
        body: async () => promisify(brotliDecompress)(await compressed()),
        precompressed: { br: compressed },
      })
    }),
    checkAddressRoute(config, feeBasis),
  ]
}

const assets = new URL('assets/', import.meta.url)
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

const headersOf = ({ trustedIssuers }: ConsoleConfig) =>
  htmlHeaders([
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...originsOf(trustedIssuers)].join(' '),
  ])

/** Where the browser discovers an issuer and redeems its codes. */
const originsOf = (issuers: ConsoleConfig['trustedIssuers']): readonly string[] => [
  ...new Set(
    issuers.flatMap(({ issuer, people }) => (people === undefined ? [] : new URL(issuer).origin)),
  ),
]

/** What the console must know before anyone has signed in. It is no secret. */
const settingsOf = ({ trustedIssuers, consoleIdleMinutes }: ConsoleConfig) => ({
  idleMinutes: consoleIdleMinutes,
  networks: cryptoNetworks,
  issuers: trustedIssuers.flatMap(({ issuer, people }) => {
    if (people === undefined) return []
    const { clientId, scope, parameters } = people
    return [{ issuer, clientId, scope, parameters }]
  }),
})

function pageWith(settings: object): string {
  const page = readFileSync(new URL('index.html', assets), 'utf8')
  return page.replace('{}', () => jsonInPage(settings))
}

/**
 * Judges an address while a person types it, by the checks of a quote. It quotes nothing and shows
 * no record, so it needs no token.
 */
const checkAddressRoute = (
  config: Pick<Config, 'addressTestnets' | 'requireEvmChecksum'>,
  feeBasis: () => FeeBasis,
): Route => ({
  method: 'POST',
  path: '/console/check-address',
  operation: 'checkAddress',
  answer: (request) => {
    const given = readBody(body, request.body)
    const network = given.get('crypto_network')
    assert(isCryptoNetwork(network), 'the declaration of the body requires a network')
    const address = given.get('destination_address') ?? ''
    const destination = { network, address, asset: given.get('asset') ?? '' }
    const check = checkDestination(feeBasis().schedule, destination, addressPolicy(config))
    const verdict = check.valid ? { valid: true } : { valid: false, detail: check.detail }
    return jsonAnswer(verdict, { 'cache-control': 'no-store' })
  },
})

const names = ['asset', 'crypto_network', 'destination_address']
const quoted = Object.entries(cryptoWithdrawal.members)

/** A person may ask about an address without an asset. */
const body: Body = {
  members: Object.fromEntries(quoted.filter(([name]) => names.includes(name))),
  required: ['crypto_network', 'destination_address'],
}
