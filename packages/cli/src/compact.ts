import { openLog, systemTime } from '@bursar/base'
import { storeEngine } from '@bursar/server/stores'
import type { Command } from 'commander'
import { withArchive } from './audit/with-archive.ts'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { type Output, printResult } from './output.ts'
import { auditing } from './processes/command-audit.ts'

/** `compact`: no byte that was deleted is left in the files or tables after it. */
export function compactCommand(output: Output): Command {
  const command = newCommand(
    'compact',
    'Write the store anew without what was deleted or erased. On PostgreSQL, use the URL of the database’s owner.',
    ['compact', 'compact --online'],
  ).option('--online', 'Run beside a server of the embedded store, whose writes wait meanwhile.')
  type Options = CommonOptions & { readonly online?: boolean }
  return command.action(async (options: Options) => {
    const config = { ...configOf(options), operatorDatabaseUrl: undefined }
    const sources = { config, clock: systemTime.now, log: openLog('warn') }
    const isOnline = options.online === true
    const { before, after } = await withArchive(options, async ({ keyring, openLog: openAudit }) =>
      auditing(openAudit(await keyring()), command, config, async () =>
        (await storeEngine(sources)).compact({ isOnline }),
      ),
    )
    const document = { bytes_before: before, bytes_after: after }
    printResult(output, options, document, [`compacted: ${before} bytes before, ${after} after`])
  })
}
