import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** One core for what is measured, the rest for what asks and for the database; as taskset takes them. */
export const cores = { own: '0', others: `1-${cpus().length - 1}`, all: `0-${cpus().length - 1}` }

/** Keeps a process, its threads and its children to some cores. What they start later keeps to them too. */
export function keepTo(where: string, pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
  for (const each of [String(pid), ...children]) {
    execFileSync('taskset', ['-apc', where, each], { stdio: 'ignore' })
  }
}
