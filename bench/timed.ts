import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../test/support/harness.ts'

/** What a command took, with its threads and the children that it waited for. */
export type Used = {
  readonly seconds: number
  readonly processorSeconds: number
  /** At the peak of its largest process. */
  readonly megabytes: number
}

/** Runs a command, which GNU time measures. Throws if it fails, with what it said. */
export function timed(words: readonly string[], env: Readonly<Record<string, string>>): Used {
  const folder = temporaryFolder()
  const report = join(folder, 'used')
  try {
    execFileSync('/usr/bin/time', ['-o', report, '-f', '%e %U %S %M', ...words], {
      env: { ...process.env, ...env },
      stdio: 'pipe',
    })
    const figures = readFileSync(report, 'utf8').trim().split(' ').map(Number)
    const [seconds = 0, user = 0, system = 0, kilobytes = 0] = figures
    return { seconds, processorSeconds: user + system, megabytes: kilobytes / 1000 }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
