import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cores } from '../test/support/cores.ts'
import { temporaryFolder } from '../test/support/harness.ts'

/** A request of the load. Its token is one of `Load.tokens`. */
export type LoadRequest = {
  readonly path: string
  /** GET by default, and POST with a body. */
  readonly method?: 'PUT'
  readonly body?: string
  /** The first token by default. */
  readonly token?: number
}

export type Load = {
  readonly url: string
  readonly tokens: readonly string[]
  readonly requests: readonly LoadRequest[]
  readonly headers?: Readonly<Record<string, string>>
  readonly seconds: number
  readonly connections?: number
}

/** Requests a second, and latencies in milliseconds. */
export type LoadResult = {
  readonly rate: number
  readonly mean: number
  readonly p50: number
  readonly p99: number
}

/** Each request is formatted once, so that the generator costs little. */
const script = `
local requests, at = {}, 0
function init(args)
  local headers, tokens = {}, {}
  for line in io.lines(args[1]) do
    local kind, first, rest = line:match("^(%S+) (%S+) ?(.*)$")
    if kind == "header" then headers[first] = rest
    elseif kind == "token" then tokens[#tokens + 1] = first
    else
      local path, number, method = first, kind:match("^(%d+)(%a*)$")
      local token = tonumber(number)
      if tokens[token] then headers["authorization"] = "Bearer " .. tokens[token] end
      local body = rest ~= "" and rest or nil
      requests[#requests + 1] = wrk.format(method ~= "" and method or body and "POST" or "GET", path, headers, body)
    end
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local failed = summary.errors
  io.write(string.format('{"requests":%d,"micros":%d,"failed":%d,"mean":%f,"p50":%f,"p99":%f}',
    summary.requests, summary.duration,
    failed.connect + failed.read + failed.write + failed.timeout + failed.status,
    latency.mean, latency:percentile(50), latency:percentile(99)))
end
`

/**
 * Sends the requests in turn with wrk on a separate core. On a shared core, and above all in
 * JavaScript, the generator would take part of what it measures.
 */
export async function runWrk(load: Load): Promise<LoadResult> {
  const { url, tokens, requests, headers = {}, seconds, connections = 32 } = load
  const folder = temporaryFolder()
  const [scriptFile, requestFile] = [join(folder, 'requests.lua'), join(folder, 'requests.txt')]
  const lines = [
    ...Object.entries(headers).map(([name, value]) => `header ${name} ${value}`),
    ...tokens.map((token) => `token ${token}`),
    ...requests.map(
      ({ path, method = '', body = '', token = 0 }) => `${token + 1}${method} ${path} ${body}`,
    ),
  ]
  writeFileSync(scriptFile, script)
  writeFileSync(requestFile, `${lines.join('\n')}\n`)
  const words = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', scriptFile, url]
  const command = ['-c', cores.load, 'wrk', ...words, '--', requestFile]
  const { stdout } = await promisify(execFile)('taskset', command).finally(() =>
    rmSync(folder, { recursive: true }),
  )
  const found = JSON.parse(/\{.*\}/.exec(stdout)?.[0] ?? '{}')
  if (!(found.requests > 0) || found.failed > 0) throw new Error(stdout)
  return {
    rate: (found.requests * 1_000_000) / found.micros,
    mean: found.mean / 1000,
    p50: found.p50 / 1000,
    p99: found.p99 / 1000,
  }
}
