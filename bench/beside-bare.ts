import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { callUrl } from '../test/support/harness.ts'
import { keepTo } from './cores.ts'
import { startProcess } from './process.ts'

const SECONDS = Number(process.env.SECONDS ?? 5)
const ROUNDS = 3
/** How many ask at once, whatever asks. */
export const CONNECTIONS = 32

/** Asks for the paths in turn, and answers how many requests a second were served. */
export type Load = (
  url: string,
  token: string,
  paths: readonly string[],
) => Promise<number> | number

export type Served = { readonly url: string; readonly token: string; readonly folder: string }

export type Beside = {
  readonly ask?: Load
  /** The cores that the service was told to keep to, for the bare server too. */
  readonly where?: string
}

/**
 * A service beside its ceiling: a bare node:http server that answers the same bytes, headers included, from memory, in the same run, turn
 * by turn. Only the ratio means anything; the same machine moves by a quarter from run to run. Answers the service's
 * requests a second.
 */
export async function besideBare(
  { url, token, folder }: Served,
  name: string,
  paths: readonly string[],
  { ask = load, where }: Beside = {},
): Promise<number> {
  const { text, status, headers } = await callUrl(`${url}${paths[0]}`, { token })
  if (status !== 200) throw new Error(`${name} answers ${status}`)
  const bodyFile = join(folder, 'body.json')
  writeFileSync(bodyFile, text)
  const headersFile = join(folder, 'headers.json')
  const ownHeaders = [...headers].filter(([header]) => !addedByNode.has(header))
  writeFileSync(headersFile, JSON.stringify(Object.fromEntries(ownHeaders)))
  const bare = await startProcess(['bench/bare-server.ts', bodyFile, headersFile])
  if (where !== undefined) keepTo(where, bare.pid)
  const rates = { bare: [] as number[], service: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push(await ask(bare.url, token, paths))
    rates.service.push(await ask(url, token, paths))
  }
  await bare.stop()
  const [ceiling, served] = [median(rates.bare), median(rates.service)]
  say(
    `${name} (${Buffer.byteLength(text)} bytes): ${Math.round(served)}/s of ${Math.round(ceiling)}/s bare, ratio ${(served / ceiling).toFixed(2)}`,
  )
  return served
}

/** What node:http puts into every answer by itself. */
const addedByNode = new Set(['connection', 'date', 'keep-alive'])

export async function load(url: string, token: string, paths: readonly string[]): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: paths.map((path) => ({ method: 'GET', path, headers })),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} answers were no success, ${result.errors} connections failed`)
  }
  return result.requests.average
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
