import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

const last = cpus().length - 1

/** One core for what is measured, the rest for what asks and for the database; as taskset takes them. */
export const cores = { own: '0', others: last === 0 ? '0' : `1-${last}`, all: `0-${last}` }

/** Keeps a process, its threads and its children to some cores. What they start later keeps to them too. */
export function keepTo(where: string, pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
  for (const each of [String(pid), ...children]) {
    // One that has ended since keeps to nothing.
    spawnSync('taskset', ['-apc', where, each])
  }
}
