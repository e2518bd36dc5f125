import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Check, type Clock, type Finding, HOUR_MICROS, limitsOf } from '@bursar/base'

const limits = limitsOf({
  /** How old the newest backup may be: one a day, and two hours for it to run. */
  backupAgeHoursMax: 26,
})

/** What is known of backups: when the last one ended, in microseconds since 1970, UTC. */
export type Backups = {
  /** Undefined where no backup is known. */
  readonly lastAt: () => bigint | undefined | Promise<bigint | undefined>
  /** How the operator makes one that this check finds. */
  readonly advice: string
}

/** Checks the age of the newest backup. */
export const backupCheck = ({ lastAt, advice }: Backups, clock: Clock): Check => ({
  name: 'backup',
  find: async () => backupFindings(await lastAt(), advice, clock()),
})

function backupFindings(last: bigint | undefined, advice: string, now: bigint): readonly Finding[] {
  const why = 'what was stored since then is lost with the disk'
  if (last === undefined) return [{ what: 'no backup is known', why, fix: advice }]
  const hours = Number((now - last) / HOUR_MICROS)
  if (hours < limits.backupAgeHoursMax) return []
  return [{ what: `the newest backup is ${hours} hours old`, why, fix: advice }]
}

/** The newest file at a path, or in the folder there. */
export function newestFileAt(path: string): bigint | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const files = stats.isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]
  const times = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return times.length === 0 ? undefined : BigInt(Math.floor(Math.max(...times))) * 1000n
}
