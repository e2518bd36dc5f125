import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cores } from './cores.ts'

export type WrkOptions = {
  readonly folder: string
  readonly seconds: number
  readonly connections: number
  /** The cores to pin wrk to. */
  readonly on?: string
}

/**
 * A load generator that returns the requests per second of wrk. On two cores the generator takes
 * its share, and one in JavaScript takes most of a core. For the same reason the Lua script formats
 * each request once.
 */
export function openWrk({ folder, seconds, connections, on = cores.all }: WrkOptions) {
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
    const words = ['-c', on, 'wrk', ...load, '-H', `authorization: Bearer ${token}`, url]
    const output = execFileSync('taskset', words, { encoding: 'utf8' })
    if (/Non-2xx|Socket errors/.test(output)) throw new Error(output)
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
  }
}
