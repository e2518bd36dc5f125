import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONNECTIONS } from './beside-bare.ts'

export type WrkOptions = { readonly folder: string; readonly seconds: number }

/**
 * Requests a second as wrk counts them, one path after the other. It is written in C, as pgbench is: on two cores what
 * asks takes its share, and a generator in JavaScript takes most of a core.
 */
export function openWrk({ folder, seconds }: WrkOptions) {
  return (url: string, token: string, paths: readonly string[]): number => {
    const script = join(folder, 'paths.lua')
    writeFileSync(
      script,
      `local paths = { ${paths.map((path) => `"${path}"`).join(', ')} }
       local at = 0
       function request()
         at = at % #paths + 1
         return wrk.format("GET", paths[at])
       end`,
    )
    const words = ['-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, '-s', script]
    const told = execFileSync('wrk', [...words, '-H', `authorization: Bearer ${token}`, url], {
      encoding: 'utf8',
    })
    if (/Non-2xx|Socket errors/.test(told)) throw new Error(told)
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(told)?.[1])
  }
}
