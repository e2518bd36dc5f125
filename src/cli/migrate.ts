import type { Command } from 'commander'
import { systemClock } from '../platform/clock.ts'
import { openLog } from '../platform/log.ts'
import { migrateStores, storeFaults } from '../stores.ts'
import { counted } from '../values/counted.ts'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { CommandFailed, type Output, printResult } from './output.ts'
import { type CreateOption, createOption } from './with-stores.ts'

type MigrateOptions = CommonOptions &
  CreateOption & {
    readonly check?: boolean
    readonly appRole: string
    readonly operatorRole: string
  }

const description =
  "Migrate the store's schema to this version. On PostgreSQL, use the URL of the database's owner. On the embedded store, every command that opens it also does it."

export function migrateCommand(output: Output): Command {
  return newCommand('migrate', description)
    .option('--app-role <role>', 'The PostgreSQL role of serve.', 'bursar')
    .option(
      '--operator-role <role>',
      'The PostgreSQL role of the other commands.',
      'bursar_operator',
    )
    .option('--check', 'Check the integrity of the whole store too.')
    .option(createOption[0], 'Create the databases of the embedded store that are missing.')
    .action(async (options: MigrateOptions) => {
      const { appRole: app, operatorRole: operator } = options
      const deps = { config: configOf(options), clock: systemClock, log: openLog('warn') }
      const applied = await migrateStores(deps, { app, operator, creates: options.create === true })
      const faults = options.check === true ? await storeFaults(deps) : []
      const document = { up_to_date: true, applied, integrity_faults: faults }
      const isChecked = options.check === true && faults.length === 0
      const summary = `up to date; ${stepsOf(applied)}`
      printResult(output, options, document, [
        isChecked ? `${summary}; no integrity faults` : summary,
      ])
      if (faults.length === 0) return
      const list = faults.join('\n')
      throw new CommandFailed(
        `the store is damaged; repair what this list names, or restore a backup:\n${list}`,
      )
    })
}

const stepsOf = (applied: readonly string[]): string =>
  applied.length === 0
    ? 'there was nothing to apply'
    : `applied ${counted(applied.length, 'migration')}: ${applied.join(', ')}`
