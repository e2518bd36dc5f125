import type { Command } from 'commander'
import { systemClock } from '../platform/clock.ts'
import { openLog } from '../platform/log.ts'
import { migrateStores } from '../stores.ts'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { CommandFailed, type Output, printResult } from './output.ts'
import { withStores } from './with-stores.ts'

type MigrateOptions = CommonOptions & {
  readonly check?: boolean
  readonly appRole: string
  readonly operatorRole: string
}

const description =
  "Migrate the store's schema to this version. On PostgreSQL, use the URL of the database's owner. On the embedded store, serve and import also do it."

export function migrateCommand(output: Output): Command {
  return newCommand('migrate', description)
    .option('--app-role <role>', 'The PostgreSQL role of serve.', 'bursar')
    .option(
      '--operator-role <role>',
      'The PostgreSQL role of the other commands.',
      'bursar_operator',
    )
    .option('--check', 'Check the integrity of the whole store too.')
    .action(async (options: MigrateOptions) => {
      const { appRole: app, operatorRole: operator } = options
      const deps = { config: configOf(options), clock: systemClock, log: openLog('warn') }
      const applied = await migrateStores(deps, { app, operator })
      const faults = options.check === true ? await integrityFaults(options) : []
      const document = { up_to_date: true, applied, integrity_faults: faults }
      const isChecked = options.check === true && faults.length === 0
      const summary = isChecked ? 'up to date, no integrity faults' : 'up to date'
      printResult(output, options, document, [summary])
      if (faults.length === 0) return
      const list = faults.join('\n')
      throw new CommandFailed(`the store is damaged; restore it from a backup:\n${list}`)
    })
}

const integrityFaults = (options: CommonOptions): Promise<readonly string[]> =>
  withStores(options, async (stores) => [
    ...(await stores.records().integrityFaults()),
    ...(await stores.credentials().integrityFaults()),
  ])
