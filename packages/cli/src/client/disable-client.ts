import { disableClient, publishedClients } from '@bursar/oauth'
import type { Client } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand, refuseUsage } from '../options.ts'
import { isoOf, printResult } from '../output.ts'
import { acceptedOf, type CredentialCommandDeps } from './shown-client.ts'

export function disableCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('disable', 'Disable a client and all its tokens permanently.', [
    'client disable client_4mV8pXo2cQ',
    'client disable --sandbox',
  ])
  command.argument('[id]', 'The id of the client.')
  command.option('--sandbox', 'Disable every client that has a public secret of a sandbox.')
  return command.action((id: string | undefined, options: DisableOptions) => {
    const isClear = (id === undefined) === (options.sandbox === true)
    refuseUsage(command, isClear ? undefined : 'Give either the id of a client, or --sandbox.')
    return deps.withCredentials(command, options, async (access) => {
      if (id !== undefined) {
        const client = describeDisabled(acceptedOf(command, await disableClient(access, id)))
        access.audited.note({ ids: [client.client_id] })
        printResult(deps, options, client, [disabledLine(client)])
        return
      }
      const clients: Disabled[] = []
      for (const published of await publishedClients(access.store, access.clock())) {
        const client = acceptedOf(command, await disableClient(access, published.id))
        clients.push(describeDisabled(client))
        access.audited.note({ ids: clients.map(({ client_id: disabled }) => disabled) })
      }
      const none = ['No client has a public secret of a sandbox.']
      printResult(deps, options, { clients }, clients.length > 0 ? clients.map(disabledLine) : none)
    })
  })
}

const describeDisabled = ({ id, disabledAt }: Client) => ({
  client_id: id,
  disabled_at: isoOf(disabledAt),
})

type Disabled = ReturnType<typeof describeDisabled>

const disabledLine = ({ client_id: id }: Disabled): string =>
  `${id} is disabled. Every running server refuses it within 10 s.`

type DisableOptions = CommonOptions & { readonly sandbox?: boolean }
