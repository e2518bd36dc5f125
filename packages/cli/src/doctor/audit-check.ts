import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  attempt,
  type Check,
  type Clock,
  type Config,
  commandHint,
  DAY_MICROS,
  type Finding,
  isOpenToOthers,
  limitsOf,
} from '@bursar/base'

const limits = limitsOf({
  /** How many days the pruning of the audit log may be late: it runs once a week. */
  auditPruneLateDaysMax: 14,
})

type AuditCheckDeps = {
  readonly config: Pick<Config, 'auditHeadsFile' | 'auditRetentionDays'>
  readonly clock: Clock
  /** When the oldest line was written, where this process may read the log. */
  readonly oldestAt: () => Promise<bigint | undefined>
}

/** Checks that heads of the audit log can be kept, and that old lines are pruned. */
export const auditCheck = ({ config, clock, oldestAt }: AuditCheckDeps): Check => ({
  name: 'audit',
  find: async () => [
    ...headsFindings(config.auditHeadsFile),
    ...retentionFindings(await oldestAt(), config.auditRetentionDays, clock()),
  ],
})

function headsFindings(file: string | undefined): readonly Finding[] {
  if (file === undefined) return []
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats !== undefined && isOpenToOthers(stats.mode)) {
    return [
      {
        what: `other users can read or write the file of audit heads ${file}`,
        why: 'a user who changes a head can hide that lines were removed',
        fix: `run \`chmod 600 ${file}\``,
      },
    ]
  }
  const isWritable = attempt(() => {
    accessSync(stats === undefined ? dirname(file) : file, constants.W_OK)
    return stats === undefined ? statSync(dirname(file)).isDirectory() : stats.isFile()
  })
  if (isWritable === true) return []
  return [
    {
      what: `the file of audit heads ${file} cannot be written`,
      why: 'a removed end of the audit log would show in the log stream alone',
      fix: 'correct BURSAR_AUDIT_HEADS_FILE, or the permissions of its folder',
    },
  ]
}

function retentionFindings(
  oldest: bigint | undefined,
  retentionDays: number,
  now: bigint,
): readonly Finding[] {
  if (oldest === undefined) return []
  const days = Number((now - oldest) / DAY_MICROS)
  if (days <= retentionDays + limits.auditPruneLateDaysMax) return []
  return [
    {
      what: `the oldest line of the audit log is ${days} days old, and ${retentionDays} are to be kept`,
      why: 'what should be deleted by now is still stored',
      fix: `run ${commandHint('audit prune')} every week`,
    },
  ]
}
