import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cores } from '../test/support/cores.ts'

export type OpenLoop = {
  readonly url: string
  readonly token: string
  readonly path: string
  /** Requests a second, whether or not the server keeps up. */
  readonly rate: number
  readonly seconds: number
}

/** Milliseconds. */
export type Latencies = { readonly p50: number; readonly p99: number; readonly rate: number }

/**
 * Sends requests at a fixed rate on the core of loads. Each latency begins when its request should
 * have been sent, so that a pause of the server is not left out.
 */
export async function openLoop({ url, token, path, rate, seconds }: OpenLoop): Promise<Latencies> {
  const options = ['-c', '32', '-d', String(seconds), '-R', String(Math.round(rate)), '--json']
  const words = [...options, '-H', `authorization=Bearer ${token}`, `${url}${path}`]
  const child = spawn('taskset', ['-c', cores.load, 'node_modules/.bin/autocannon', ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  await once(child, 'close')
  const { latency, requests, non2xx, errors } = JSON.parse(output)
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} failed answers, ${errors} errors`)
  return { p50: latency.p50, p99: latency.p99, rate: requests.average }
}
