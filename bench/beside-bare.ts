import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { callUrl } from '../test/support/harness.ts'
import { pinToCores } from './cores.ts'
import { startProcess } from './process.ts'

const SECONDS = Number(process.env.SECONDS ?? 5)
const ROUNDS = 3
/** Concurrent connections of every load generator. */
export const CONNECTIONS = 32

/** Requests the paths in turn and returns the requests served per second. */
export type Load = (
  url: string,
  token: string,
  paths: readonly string[],
) => Promise<number> | number

export type Served = { readonly url: string; readonly token: string; readonly folder: string }

export type BesideOptions = {
  readonly load?: Load
  /** The cores of the service; the bare server gets the same. */
  readonly cores?: string
}

/**
 * Measures the service and its ceiling, a bare node:http server with the same answer, in turns.
 * Compare ratios only: the same machine varies by a quarter from run to run.
 * Returns the requests per second of the service.
 */
export async function besideBare(
  { url, token, folder }: Served,
  name: string,
  paths: readonly string[],
  { load = loadWithAutocannon, cores }: BesideOptions = {},
): Promise<number> {
  const { text, status, headers } = await callUrl(`${url}${paths[0]}`, { token })
  if (status !== 200) throw new Error(`${name} answers ${status}`)
  const bodyFile = join(folder, 'body.json')
  writeFileSync(bodyFile, text)
  const headersFile = join(folder, 'headers.json')
  const ownHeaders = [...headers].filter(([header]) => !addedByNode.has(header))
  writeFileSync(headersFile, JSON.stringify(Object.fromEntries(ownHeaders)))
  const bare = await startProcess(['bench/bare-server.ts', bodyFile, headersFile])
  if (cores !== undefined) pinToCores(cores, bare.pid)
  const rates = { bare: [] as number[], service: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push(await load(bare.url, token, paths))
    rates.service.push(await load(url, token, paths))
  }
  await bare.stop()
  const [ceiling, served] = [median(rates.bare), median(rates.service)]
  say(
    `${name} (${Buffer.byteLength(text)} bytes): ${Math.round(served)} requests/s, bare node:http ${Math.round(ceiling)}/s, ratio ${(served / ceiling).toFixed(2)}`,
  )
  return served
}

/** Headers that node:http adds by itself. */
const addedByNode = new Set(['connection', 'date', 'keep-alive'])

async function loadWithAutocannon(
  url: string,
  token: string,
  paths: readonly string[],
): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: paths.map((path) => ({ method: 'GET', path, headers })),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} answers were not 2xx and ${result.errors} connections failed`)
  }
  return result.requests.average
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
