import { counted } from '@bursar/base'
import { isSealed } from '@bursar/oauth'
import type { Client, ClientWithSecrets } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { isoOf, printResult } from '../output.ts'
import { type CredentialCommandDeps, describe } from './shown-client.ts'

export function listCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('list', 'List clients, their scopes and when each was last used.', [
    'client list',
    'client list --json',
  ])
  command.option('--customer <id>', 'List those of one customer, and those bound to it.')
  return command.action((options: CommonOptions & { readonly customer?: string }) =>
    deps.withCredentials(command, options, async ({ store, keyring }) => {
      const { customer } = options
      const clients = (await store.listClients()).filter(
        ({ customerId, boundTo }) =>
          customer === undefined || customerId === customer || boundTo === customer,
      )
      const described = clients.map((client) => ({
        ...describeListed(client),
        ...(!isSealed(client, keyring) && { refused: 'not as this program has stored it last' }),
      }))
      const lines = clients.map((client) => lineOf(client, isSealed(client, keyring)))
      printResult(deps, options, { clients: described }, lines)
    }),
  )
}

function describeListed(client: ClientWithSecrets) {
  const secrets = client.secrets.map(({ id, createdAt, expiresAt, lastUsedAt }) => ({
    secret_id: id,
    created_at: isoOf(createdAt),
    expires_at: isoOf(expiresAt),
    last_used_at: isoOf(lastUsedAt),
  }))
  return {
    client_id: client.id,
    ...describe(client),
    method: client.method.kind,
    created_at: isoOf(client.createdAt),
    last_used_at: isoOf(client.lastUsedAt),
    disabled_at: isoOf(client.disabledAt),
    secrets,
  }
}

function lineOf(client: ClientWithSecrets, isOwn: boolean): string {
  const state = isOwn ? (client.disabledAt === undefined ? 'live' : 'disabled') : 'refused'
  const used = isoOf(client.lastUsedAt) ?? 'never used'
  const secrets =
    client.method.kind === 'secret' ? counted(client.secrets.length, 'secret') : client.method.kind
  const scopes = client.scopes.join(' ')
  return [client.id, state, ownerOf(client), used, secrets, client.name, scopes].join('  ')
}

const ownerOf = ({ customerId, boundTo }: Client): string =>
  customerId ?? (boundTo === null ? 'operator' : `operator for ${boundTo}`)
