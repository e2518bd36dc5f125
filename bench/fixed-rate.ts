import { execFile, execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cores } from '../test/support/cores.ts'
import { temporaryFolder } from '../test/support/harness.ts'
import type { Load, LoadRequest } from './wrk.ts'

export type FixedLoad = Load & {
  /** Requests a second, whether or not the server keeps up. */
  readonly rate: number
  /** Ends the load before its seconds have passed. */
  readonly until?: AbortSignal
  /** Counts answers that failed in place of an error. */
  readonly mayFail?: true
}

/** Requests a second, and latencies in milliseconds from when each request was due. */
export type FixedLoadResult = {
  readonly rate: number
  readonly requests: number
  /** Answers with another status than 2xx, and requests without an answer. */
  readonly failed: number
  /** The status of the last one that failed, 0 for a closed connection. */
  readonly failedStatus: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly most: number
  /** The generator's own part: how late it sent 99 % of the requests. */
  readonly late99: number
}

/** Sends requests in turn at a fixed rate with `fixed-rate.c` on a separate core. */
export async function runAtFixedRate(load: FixedLoad): Promise<FixedLoadResult> {
  const { url, rate, seconds, connections = 32, until, mayFail } = load
  const folder = temporaryFolder()
  const [program, requestFile] = [join(folder, 'fixed-rate'), join(folder, 'requests')]
  compile(program)
  writeFileSync(requestFile, load.requests.map((request) => formatRequest(request, load)).join(''))
  const { hostname, port } = new URL(url)
  const words = [hostname, port, rate, seconds, connections, requestFile].map(String)
  until?.throwIfAborted()
  const running = promisify(execFile)('taskset', ['-c', cores.load, program, ...words])
  const stop = () => running.child.kill('SIGTERM')
  until?.addEventListener('abort', stop)
  const { stdout } = await running.finally(() => {
    until?.removeEventListener('abort', stop)
    rmSync(folder, { recursive: true })
  })
  const found = JSON.parse(stdout)
  if (found.failed > 0 && mayFail !== true) {
    throw new Error(`${found.failed} answers failed, the last with status ${found.failedStatus}`)
  }
  const ms = (name: string) => found[name] / 1000
  return {
    rate: found.rate,
    requests: found.requests,
    failed: found.failed,
    failedStatus: found.failedStatus,
    p50: ms('p50'),
    p99: ms('p99'),
    p999: ms('p999'),
    most: ms('most'),
    late99: ms('late99'),
  }
}

/** For a line of output. */
export function figuresOf({ p50, p99, p999, most, late99 }: FixedLoadResult): string {
  const figures = Object.entries({ p50, p99, 'p99.9': p999, most, 'sent late, p99': late99 })
  return figures.map(([figure, ms]) => `${figure} ${ms.toFixed(2)} ms`).join(', ')
}

/** The bytes of a request, after a line with their number. */
function formatRequest(request: LoadRequest, { url, tokens, headers = {} }: Load): string {
  const { path, body = '', token = 0, method = body === '' ? 'GET' : 'POST' } = request
  const all = {
    host: new URL(url).host,
    ...headers,
    ...(tokens[token] !== undefined && { authorization: `Bearer ${tokens[token]}` }),
    ...(body !== '' && { 'content-length': Buffer.byteLength(body) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
  return `${Buffer.byteLength(text)}\n${text}`
}

/** Takes a quarter of a second. */
function compile(program: string): void {
  try {
    execFileSync('cc', ['-O2', '-std=gnu17', '-o', program, 'bench/fixed-rate.c', '-lm'])
  } catch (cause) {
    const needs = 'The generator of fixed rates needs a C compiler: install gcc and libc6-dev.'
    throw new Error(needs, { cause })
  }
}
