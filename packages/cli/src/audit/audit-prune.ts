import { counted, DAY_MICROS, printInstant, systemTime } from '@bursar/base'
import { PruneRefused, pruneAudit } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, configOf, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { auditing } from '../processes/command-audit.ts'
import { auditKeysOf, withArchive } from './with-archive.ts'

/** `audit prune`: deletes what is past its retention, and leaves an anchor for each chain. */
export function auditPruneCommand(output: Output): Command {
  const summary =
    'Delete lines that are older than BURSAR_AUDIT_RETENTION_DAYS. On PostgreSQL, use the URL of the database’s owner.'
  const command = newCommand('prune', summary, ['audit prune'])
  return command.action(async (_options: CommonOptions) => {
    const options = command.optsWithGlobals<CommonOptions>()
    const config = { ...configOf(options), operatorDatabaseUrl: undefined }
    const before = systemTime.now() - BigInt(config.auditRetentionDays) * DAY_MICROS
    const deleted = await withArchive(options, async ({ reader, keyring, openLog }) => {
      const keys = await keyring()
      const key = () => keys.current('audit')
      return await auditing(openLog(keys), command, config, async ({ note }) => {
        const pruning = { reader, before, key, keyOf: auditKeysOf(keys) }
        const rows = await pruneAudit(pruning).catch(explain)
        note({ rows })
        return rows
      })
    })
    const document = { before: printInstant(before), deleted }
    const lines = [`deleted ${counted(deleted, 'line')} from before ${document.before}`]
    printResult(output, options, document, lines)
  })
}

function explain(error: unknown): never {
  if (error instanceof PruneRefused) throw new CommandFailed(`${error.message}; run audit verify`)
  throw error
}
