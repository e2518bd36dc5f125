import { Command } from 'commander'
import { systemClock } from '../platform/clock.ts'
import { openLog } from '../platform/log.ts'
import { migrateStores } from '../stores.ts'
import { openCommandStores } from './command-stores.ts'
import { type CommonOptions, configOf, withCommonOptions } from './options.ts'
import { CommandFailed, type Output } from './output.ts'

type MigrateFlags = CommonOptions & {
  readonly check?: boolean
  readonly appRole: string
  readonly operatorRole: string
}

export function migrateCommand(output: Output): Command {
  return withCommonOptions(new Command('migrate'))
    .description(
      "brings the store's schema up to date (the embedded store: serve and import do it themselves); on PostgreSQL with the URL of the database's owner",
    )
    .option('--app-role <role>', 'the PostgreSQL role that serve runs as', 'bursar')
    .option(
      '--operator-role <role>',
      "the PostgreSQL role of the operator's commands",
      'bursar_operator',
    )
    .option('--check', 'check the integrity of the whole store too')
    .action(async (flags: MigrateFlags) => {
      const sources = { config: configOf(flags), clock: systemClock, log: openLog('warn') }
      const { appRole: app, operatorRole: operator } = flags
      const applied = await migrateStores(sources, { app, operator })
      const faults = flags.check ? await integrityFaults(flags) : []
      const soundness = flags.check && faults.length === 0 ? 'up to date and sound' : 'up to date'
      output.print(
        flags.json
          ? JSON.stringify({ up_to_date: true, applied, integrity_faults: faults })
          : soundness,
      )
      if (faults.length > 0) {
        throw new CommandFailed(
          `the store is damaged, restore it from a backup:\n${faults.join('\n')}`,
        )
      }
    })
}

async function integrityFaults(options: CommonOptions): Promise<readonly string[]> {
  const stores = await openCommandStores(options)
  try {
    return [
      ...(await stores.records().integrityFaults()),
      ...(await stores.credentials().integrityFaults()),
    ]
  } finally {
    await stores.close()
  }
}
