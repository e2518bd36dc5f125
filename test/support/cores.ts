import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

const last = cpus().length - 1

/** Core lists for taskset: one core for the server, the others for the load and the database. */
export const cores = { server: '0', load: last === 0 ? '0' : `1-${last}` }

/** Pins a process, its threads and its children to cores. Later children inherit the pin. */
export function pinToCores(where: string, pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
  for (const each of [String(pid), ...children]) {
    // taskset fails harmlessly if the process has ended.
    spawnSync('taskset', ['-apc', where, each])
  }
}
