import { Command } from 'commander'
import { systemClock } from '../platform/clock.ts'
import { openCredentials, openRecords } from '../service.ts'
import { type CommonOptions, configOf, withCommonOptions } from './options.ts'
import { CommandFailed, type Output } from './output.ts'

export function migrateCommand(output: Output): Command {
  return withCommonOptions(new Command('migrate'))
    .description("brings the store's schema up to date (serve and import do it themselves)")
    .option('--check', 'check the integrity of the whole store too')
    .action(async (flags: CommonOptions & { readonly check?: boolean }) => {
      const config = configOf(flags)
      const records = await openRecords(config, systemClock)
      const credentials = await openCredentials(config)
      const faults = flags.check
        ? [...(await records.integrityFaults()), ...(await credentials.integrityFaults())]
        : []
      await credentials.close()
      await records.close()
      if (flags.json) output.print(JSON.stringify({ up_to_date: true, integrity_faults: faults }))
      else output.print(flags.check && faults.length === 0 ? 'up to date and sound' : 'up to date')
      if (faults.length > 0) {
        throw new CommandFailed(
          `the store is damaged, restore it from a backup:\n${faults.join('\n')}`,
        )
      }
    })
}
