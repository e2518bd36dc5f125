import { type Config, counted, openLog, systemTime } from '@bursar/base'
import { resources } from '@bursar/contract'
import { checkStored, listFaults } from '@bursar/intake'
import { type StoreEngine, storeEngine } from '@bursar/server/stores'
import type { Command } from 'commander'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { CommandFailed, type Output, printResult } from './output.ts'
import { auditing } from './processes/command-audit.ts'
import type { CreateOption } from './with-stores.ts'

type MigrateOptions = CommonOptions &
  CreateOption & {
    readonly check?: boolean
    readonly yes?: boolean
    readonly appRole: string
    readonly operatorRole: string
  }

const description =
  "Migrate the store's schema to this version. On PostgreSQL, use the URL of the database's owner. On the embedded store, every command that opens it also does it; stop its server first."

export function migrateCommand(output: Output): Command {
  return newCommand('migrate', description, ['migrate', 'migrate --check'])
    .option('--app-role <role>', 'The PostgreSQL role of serve.', 'bursar')
    .option(
      '--operator-role <role>',
      'The PostgreSQL role of the other commands.',
      'bursar_operator',
    )
    .option('--check', 'Check the integrity of the whole store and of every stored record too.')
    .option('--yes', 'Replace objects and rights on PostgreSQL that somebody has changed.')
    .option('--create', 'Make an empty database where one of the embedded store is missing.')
    .action(async (options: MigrateOptions, command: Command) => {
      const { appRole: app, operatorRole: operator } = options
      const deps = { config: configOf(options), clock: systemTime.now, log: openLog('info') }
      const engine = await storeEngine(deps)
      const applied = await engine.migrate({
        app,
        operator,
        creates: creates(options),
        // A check reads beside a server.
        refusesServed: options.check !== true,
        replaces: options.yes === true,
        recorded: (log, work) => {
          if (log === undefined) return work()
          return auditing(log, command, asOwner(deps.config), async ({ note }) => {
            const ids = await work()
            note({ ids })
            return ids
          })
        },
      })
      const summary = `up to date; ${stepsOf(applied)}`
      if (options.check !== true) {
        const document = { up_to_date: true, applied, integrity_faults: [], conflicts: [] }
        printResult(output, options, document, [summary])
        return
      }
      const { faults, faultCount, records, conflicts } = await check(engine)
      const document = {
        up_to_date: true,
        applied,
        records_checked: records,
        integrity_fault_count: faultCount,
        integrity_faults: faults,
        conflicts,
      }
      const isSound = faultCount === 0
      printResult(output, options, document, [
        isSound ? `${summary}; no integrity faults in ${counted(records, 'record')}` : summary,
        ...conflicts,
      ])
      if (isSound) return
      throw new CommandFailed(
        `the store is damaged; import the records that this list names again, or restore a backup:\n${listFaults({ faults, faultCount })}`,
      )
    })
}

/** The owner connects by DATABASE_URL, whatever the operator's URL is. */
const asOwner = (config: Config): Config => ({ ...config, operatorDatabaseUrl: undefined })

async function check(engine: StoreEngine) {
  const { faults, records } = await engine.check((rows) => checkStored(resources, rows))
  return {
    ...records,
    faultCount: faults.length + records.faultCount,
    faults: [...faults, ...records.faults],
  }
}

/** A check only reads. Where one database is left, only `--create` makes the lost one. */
const creates = ({ create, check: checks }: MigrateOptions) =>
  create === true ? 'what is missing' : checks === true ? 'nothing' : 'a whole store'

const stepsOf = (applied: readonly string[]): string =>
  applied.length === 0
    ? 'there was nothing to apply'
    : `applied ${counted(applied.length, 'migration')}: ${applied.join(', ')}`
