import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { operatorScopes } from '../contract/scopes.ts'
import {
  type ClientDeps,
  createClient,
  disableClient,
  type Refused,
  readClientKeys,
  rotateClient,
} from '../oauth/clients/clients.ts'
import type { Secret } from '../platform/secret.ts'
import type { Client, ClientMethod, ClientWithSecrets } from '../store/credentials.ts'
import { type CommonOptions, withCommonOptions } from './options.ts'

/** The credentials of the store that a command works on. */
export type CredentialAccess = ClientDeps & {
  /** The issuers of the configuration, by name. */
  readonly trustedIssuers: readonly string[]
  close(): Promise<void>
}

/** What the commands on credentials need from the outside. */
export type CredentialCommandDeps = {
  open(options: CommonOptions): Promise<CredentialAccess>
  /** One line to stdout. */
  print(line: string): void
}

/** `client create|list|rotate|disable`: who may ask for tokens. */
export function clientCommand(sources: CredentialCommandDeps): Command {
  return new Command('client')
    .description('Manage the API clients of customers.')
    .addCommand(createCommand(sources))
    .addCommand(listCommand(sources))
    .addCommand(rotateCommand(sources))
    .addCommand(disableCommand(sources))
}

/** A command on credentials, with the options that every command takes. */
export const storeCommand = (name: string, description: string): Command =>
  withCommonOptions(new Command(name)).description(description)

/** Opens the store for one piece of work and closes it again, whatever comes of that. */
export async function withCredentials<T>(
  sources: CredentialCommandDeps,
  options: CommonOptions,
  work: (access: CredentialAccess) => Promise<T>,
): Promise<T> {
  const access = await sources.open(options)
  try {
    return await work(access)
  } finally {
    await access.close()
  }
}

type CreateOptions = CommonOptions & {
  readonly customer?: string
  readonly operator?: boolean
  readonly name: string
  readonly scope?: string
  readonly jwks?: string
  readonly issuer?: string
  readonly externalId?: string
}

function createCommand(sources: CredentialCommandDeps): Command {
  const command = storeCommand('create', 'Register a client; its secret is shown once.')
    .option('--customer <id>', 'the customer whose records it may see')
    .option('--operator', 'a client of the operator’s own, for /ingest/v1 only')
    .requiredOption('--name <text>', 'what people call it')
    .option('--scope <scopes>', 'scopes separated by blanks; without it the read scopes only')
    .option('--jwks <file>', 'its public keys, for private_key_jwt instead of a secret')
    .option('--issuer <url>', 'a trusted issuer that gives it its tokens instead of Bursar')
    .option('--external-id <id>', 'what that issuer calls it')
  return command.action(async (options: CreateOptions) => {
    refuseUsage(command, faultOfCreate(options))
    const method = await readMethod(command, options)
    await withCredentials(sources, options, async (access) => {
      if (options.issuer !== undefined && !access.trustedIssuers.includes(options.issuer)) {
        const known = access.trustedIssuers.join(', ') || 'none'
        command.error(`${options.issuer} is not among trustedIssuers, which are: ${known}.`)
      }
      const scopes = options.scope?.split(/\s+/).filter((scope) => scope !== '')
      const { customer: customerId = null, name } = options
      const made = await createClient(access, { customerId, name, scopes, method })
      const { client, secret } = settle(command, made)
      printClient(sources, options, client, secret)
    })
  })
}

function faultOfCreate(options: CreateOptions): string | undefined {
  const plain = /^[^\p{Cc}]{1,200}$/u
  if ((options.customer === undefined) === (options.operator === undefined)) {
    return 'One of --customer and --operator must be given.'
  }
  if (options.operator === true && options.scope === undefined) {
    return `--operator needs --scope, of ${operatorScopes.join(', ')}.`
  }
  if (options.customer !== undefined && !plain.test(options.customer))
    return '--customer must have 1 to 200 printable characters.'
  if (!plain.test(options.name)) return '--name must have 1 to 200 printable characters.'
  if ((options.issuer === undefined) !== (options.externalId === undefined)) {
    return '--issuer and --external-id belong together.'
  }
  if (options.issuer !== undefined && options.jwks !== undefined) {
    return '--jwks and --issuer exclude each other.'
  }
  return undefined
}

async function readMethod(command: Command, options: CreateOptions): Promise<ClientMethod> {
  const { issuer, externalId, jwks } = options
  if (issuer !== undefined && externalId !== undefined)
    return { kind: 'issuer', issuer, externalId }
  if (jwks === undefined) return { kind: 'secret' }
  const read = await readClientKeys(readText(command, jwks))
  if ('refused' in read) return command.error(`${jwks}: ${read.refused}`)
  return { kind: 'keys', jwks: read.jwks }
}

function readText(command: Command, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return command.error(`${path} cannot be read.`)
  }
}

function listCommand(sources: CredentialCommandDeps): Command {
  const command = storeCommand('list', 'Show every client and when it was last used.')
  return command.action((options: CommonOptions) =>
    withCredentials(sources, options, async ({ store }) => {
      const clients = await store.listClients()
      if (options.json === true) {
        sources.print(JSON.stringify({ clients: clients.map(describeListed) }))
        return
      }
      for (const client of clients) sources.print(lineOf(client))
    }),
  )
}

function rotateCommand(sources: CredentialCommandDeps): Command {
  const command = storeCommand(
    'rotate',
    'Give a client a new secret; the old one stays live until the next rotation.',
  )
    .argument('<id>', 'the client')
    .option('--expire-old', 'refuse the old secrets, and all tokens so far, at once')
  return command.action((id: string, options: CommonOptions & { expireOld?: boolean }) =>
    withCredentials(sources, options, async (access) => {
      const expireOld = options.expireOld === true
      const { client, secret } = settle(command, await rotateClient(access, id, { expireOld }))
      printClient(sources, options, client, secret)
    }),
  )
}

function disableCommand(sources: CredentialCommandDeps): Command {
  const command = storeCommand('disable', 'Refuse a client and all its tokens, for good.').argument(
    '<id>',
    'the client',
  )
  return command.action((id: string, options: CommonOptions) =>
    withCredentials(sources, options, async (access) => {
      const client = settle(command, await disableClient(access, id))
      const answer = { client_id: client.id, disabled_at: isoOf(client.disabledAt) }
      sources.print(
        options.json === true
          ? JSON.stringify(answer)
          : `${client.id} is disabled; running servers refuse it within 10 s.`,
      )
    }),
  )
}

/** What was made, or the end of the command with the sentence that says why not. */
function settle<T extends object>(command: Command, outcome: T | Refused): T {
  if ('refused' in outcome) return command.error(outcome.refused, { exitCode: 1 })
  return outcome
}

function refuseUsage(command: Command, fault: string | undefined): void {
  if (fault !== undefined) command.error(fault, { exitCode: 2 })
}

function printClient(
  { print }: CredentialCommandDeps,
  { json }: CommonOptions,
  client: Client,
  secret: Secret | undefined,
): void {
  const members = {
    client_id: client.id,
    ...(secret !== undefined && { client_secret: secret.reveal() }),
    ...describe(client),
  }
  if (json === true) {
    print(JSON.stringify(members))
    return
  }
  for (const [name, value] of Object.entries(members)) print(`${name}: ${value}`)
  if (secret !== undefined) print('The secret is not shown again.')
}

function describe({ customerId, name, scopes, method }: Client) {
  const external = method.kind === 'issuer' && {
    ...{ issuer: method.issuer, external_id: method.externalId },
  }
  return { customer_id: customerId, name, scope: scopes.join(' '), ...external }
}

function describeListed(client: ClientWithSecrets) {
  const secrets = client.secrets.map(({ id, createdAt, lastUsedAt }) => ({
    ...{ secret_id: id, created_at: isoOf(createdAt), last_used_at: isoOf(lastUsedAt) },
  }))
  return {
    ...{ client_id: client.id, ...describe(client), method: client.method.kind },
    ...{ created_at: isoOf(client.createdAt), last_used_at: isoOf(client.lastUsedAt) },
    ...{ disabled_at: isoOf(client.disabledAt), secrets },
  }
}

function lineOf(client: ClientWithSecrets): string {
  const state = client.disabledAt === undefined ? 'live' : 'disabled'
  const used = isoOf(client.lastUsedAt) ?? 'never used'
  const secrets =
    client.method.kind === 'secret' ? `${client.secrets.length} secrets` : client.method.kind
  return [client.id, state, client.customerId ?? 'operator', used, secrets, client.name].join('  ')
}

/** Microseconds as RFC 3339 in UTC; null where there is no such instant. */
export const isoOf = (instant: bigint | undefined): string | null =>
  instant === undefined ? null : new Date(Number(instant / 1000n)).toISOString()
