import { rotateClient } from '@bursar/oauth'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { isoOf } from '../output.ts'
import { acceptedOf, type CredentialCommandDeps, reveal, storing } from './shown-client.ts'

export function rotateCommand(deps: CredentialCommandDeps): Command {
  const summary = 'Give a client a new secret. The old one stays valid for 7 days.'
  const command = newCommand('rotate', summary, [
    'client rotate client_4mV8pXo2cQ',
    'client rotate client_4mV8pXo2cQ --now',
  ])
    .argument('<id>', 'The id of the client.')
    .option('--days <number>', 'How long the old secret stays valid: 1 to 90 days.', '7')
    .option('--now', 'End the old secrets, and every token issued so far, at once.')
  return command.action((id: string, options: RotateOptions) =>
    deps.withCredentials(command, options, async (access) => {
      const previousDays = options.now === true ? 0 : readDays(command, options.days)
      const rotated = await storing(
        rotateClient(access, id, { previousDays }, (shown) =>
          reveal(deps, options, shown, { previous_secret_until: isoOf(shown.previousUntil) }),
        ),
      )
      access.audited.note({ ids: [acceptedOf(command, rotated).client.id] })
    }),
  )
}

type RotateOptions = CommonOptions & { readonly days: string; readonly now?: boolean }

function readDays(command: Command, given: string): number {
  if (/^[1-9]\d?$/.test(given) && Number(given) <= 90) return Number(given)
  return command.error('--days must be a whole number from 1 to 90.', { exitCode: 2 })
}
