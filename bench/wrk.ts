import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cores } from './cores.ts'

export type WrkOptions = {
  readonly folder: string
  readonly seconds: number
  readonly connections: number
  /** The cores that it keeps to. */
  readonly where?: string
}

/**
 * Requests a second as wrk counts them, one path after the other. It is written in C, as pgbench is: on two cores what
 * asks takes its share, and a generator in JavaScript takes most of a core. For the same reason requests are made once.
 */
export function openWrk({ folder, seconds, connections, where = cores.all }: WrkOptions) {
  return (url: string, token: string, paths: readonly string[]): number => {
    const script = join(folder, 'paths.lua')
    writeFileSync(
      script,
      `local paths = { ${paths.map((path) => `"${path}"`).join(', ')} }
       local at = 0
       local requests = {}
       function init()
         for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end
       end
       function request()
         at = at % #requests + 1
         return requests[at]
       end`,
    )
    const load = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', script]
    const words = ['-c', where, 'wrk', ...load, '-H', `authorization: Bearer ${token}`, url]
    const told = execFileSync('taskset', words, { encoding: 'utf8' })
    if (/Non-2xx|Socket errors/.test(told)) throw new Error(told)
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(told)?.[1])
  }
}
