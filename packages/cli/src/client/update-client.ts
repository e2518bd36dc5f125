import { updateClient } from '@bursar/oauth'
import type { Command } from 'commander'
import { type CommonOptions, isPrintable, newCommand, refuseUsage } from '../options.ts'
import { linesOf, printResult } from '../output.ts'
import { acceptedOf, type CredentialCommandDeps, describe, scopesIn } from './shown-client.ts'

type UpdateOptions = CommonOptions & { readonly scope?: string; readonly name?: string }

export function updateCommand(deps: CredentialCommandDeps): Command {
  const summary = 'Change the name or the scopes of a client. Its secret or keys stay in force.'
  const command = newCommand('update', summary, [
    'client update client_4mV8pXo2cQ --scope "transfer:read_fiat_account"',
    'client update client_4mV8pXo2cQ --name "Northwind treasury, Zurich"',
  ])
    .argument('<id>', 'The id of the client.')
    .option('--name <text>', 'The name that people know the client by.')
    .option('--scope <scopes>', 'All its scopes from now on, separated by blanks or commas.')
  return command.action(async (id: string, options: UpdateOptions) => {
    const { name, scope } = options
    refuseUsage(command, faultOfUpdate(options))
    const update = {
      ...(name !== undefined && { name }),
      ...(scope !== undefined && { scopes: scopesIn(scope) }),
    }
    await deps.withCredentials(command, options, async (access) => {
      const client = acceptedOf(command, await updateClient(access, id, update))
      access.audited.note({ ids: [client.id] })
      const record = { client_id: client.id, ...describe(client) }
      printResult(deps, options, record, [
        ...linesOf(record),
        'Every running server goes by it within 10 s.',
      ])
    })
  })
}

function faultOfUpdate({ name, scope }: UpdateOptions): string | undefined {
  if (name === undefined && scope === undefined) return 'Give --name or --scope.'
  if (name !== undefined && !isPrintable(name)) {
    return '--name must have 1 to 200 printable characters.'
  }
  return undefined
}
