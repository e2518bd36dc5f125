import { Command } from 'commander'
import { operatorScopes } from '../contract/scopes.ts'
import { isSealed } from '../oauth/clients/client-seal.ts'
import {
  createClient,
  disableClient,
  type Refused,
  readClientKeys,
  rotateClient,
  updateClient,
} from '../oauth/clients/clients.ts'
import { publishedClients } from '../oauth/clients/published-secrets.ts'
import { readTextFile } from '../platform/config.ts'
import type { Secret } from '../platform/secret.ts'
import { commandHint } from '../platform/version.ts'
import type { Client, ClientMethod, ClientWithSecrets } from '../store/credentials.ts'
import { NothingChanged, StoreUnavailable } from '../store/unavailable.ts'
import { counted } from '../values/counted.ts'
import { type CommonOptions, isPrintable, newCommand, refuseUsage } from './options.ts'
import { CommandFailed, isoOf, linesOf, type Output, printResult, resultLines } from './output.ts'
import { type CreateOption, noCreateOption, type WithCredentials } from './with-stores.ts'

export type CredentialCommandDeps = Pick<Output, 'print' | 'reveal'> & {
  readonly withCredentials: WithCredentials
}

/** `client create|list|update|rotate|disable`: the clients that may request tokens. */
export function clientCommand(deps: CredentialCommandDeps): Command {
  return new Command('client')
    .description('Manage the API clients of customers.')
    .addCommand(createCommand(deps))
    .addCommand(listCommand(deps))
    .addCommand(updateCommand(deps))
    .addCommand(rotateCommand(deps))
    .addCommand(disableCommand(deps))
}

type CreateOptions = CommonOptions &
  CreateOption & {
    readonly customer?: string
    readonly operator?: boolean
    readonly name: string
    readonly scope?: string
    readonly jwks?: string
    readonly issuer?: string
    readonly externalId?: string
  }

function createCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('create', 'Create a client and print its secret once.')
    .option(
      '--customer <id>',
      'The customer whose records the client may read. With --operator, the only one that it reaches.',
    )
    .option('--operator', 'Create a client of the operator, for /ingest/v1 only.')
    .requiredOption('--name <text>', 'The name that people know the client by.')
    .option(
      '--scope <scopes>',
      'The scopes, separated by blanks or commas (default: the read scopes).',
    )
    .option('--jwks <file>', 'Its public keys, for private_key_jwt instead of a secret.')
    .option('--issuer <url>', 'The trusted issuer of its tokens, instead of Bursar.')
    .option('--external-id <id>', 'The id of the client at that issuer.')
    .option(...noCreateOption)
  return command.action(async (options: CreateOptions) => {
    refuseUsage(command, faultOfCreate(options))
    const method = await readMethod(command, options)
    await deps.withCredentials(command, options, async (access) => {
      if (options.issuer !== undefined && !access.trustedIssuers.includes(options.issuer)) {
        const known = access.trustedIssuers.join(', ') || 'none'
        command.error(`${options.issuer} is not one of the trustedIssuers: ${known}.`)
      }
      const scopes = options.scope === undefined ? undefined : scopesIn(options.scope)
      const { customer = null, name } = options
      const isOperator = options.operator === true
      const owner = isOperator
        ? { customerId: null, boundTo: customer }
        : { customerId: customer, boundTo: null }
      const wanted = { ...owner, name, scopes, method }
      const made = await storing(
        createClient(access, wanted, (shown) => reveal(deps, options, shown)),
      )
      const { client, secret } = acceptedOf(command, made)
      access.audited.note({ ids: [client.id] })
      if (secret !== undefined) return
      const record = { client_id: client.id, ...describe(client) }
      printResult(deps, options, record, linesOf(record))
    })
  })
}

function faultOfCreate(options: CreateOptions): string | undefined {
  if (options.customer === undefined && options.operator === undefined) {
    return 'Give --customer or --operator.'
  }
  if (options.operator === true && options.scope === undefined) {
    return `--operator requires --scope with one or more of ${operatorScopes.join(', ')}.`
  }
  if (options.customer !== undefined && !isPrintable(options.customer)) {
    return '--customer must have 1 to 200 printable characters.'
  }
  if (!isPrintable(options.name)) return '--name must have 1 to 200 printable characters.'
  if ((options.issuer === undefined) !== (options.externalId === undefined)) {
    return 'Give --issuer and --external-id together.'
  }
  if (options.issuer !== undefined && options.jwks !== undefined) {
    return 'Give either --jwks or --issuer, not both.'
  }
  return undefined
}

async function readMethod(command: Command, options: CreateOptions): Promise<ClientMethod> {
  const { issuer, externalId, jwks: path } = options
  if (issuer !== undefined && externalId !== undefined) {
    return { kind: 'issuer', issuer, externalId }
  }
  if (path === undefined) return { kind: 'secret' }
  const file = readTextFile(path)
  if ('fault' in file) return command.error(`${path} ${file.fault}.`)
  const read = await readClientKeys(file.text)
  if ('refused' in read) return command.error(`${path}: ${read.refused}`)
  return { kind: 'keys', jwks: read.jwks }
}

function listCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('list', 'List clients, their scopes and when each was last used.')
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
        ...(!isSealed(client, keyring) && { refused: 'not stored by this program' }),
      }))
      const lines = clients.map((client) => lineOf(client, isSealed(client, keyring)))
      printResult(deps, options, { clients: described }, lines)
    }),
  )
}

type UpdateOptions = CommonOptions & { readonly scope?: string; readonly name?: string }

function updateCommand(deps: CredentialCommandDeps): Command {
  const summary = 'Change the name or the scopes of a client. Its secret or keys stay in force.'
  const command = newCommand('update', summary)
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

const scopesIn = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((scope) => scope !== '')

function rotateCommand(deps: CredentialCommandDeps): Command {
  const summary = 'Give a client a new secret. The old one stays valid for 7 days.'
  const command = newCommand('rotate', summary)
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

function disableCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('disable', 'Disable a client and all its tokens permanently.')
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

/** The result, or the end of the command with the reason of the refusal. */
function acceptedOf<T extends object>(command: Command, outcome: T | Refused): T {
  if ('refused' in outcome) return command.error(outcome.refused, { exitCode: 1 })
  return outcome
}

/** Runs before the secret is stored, so it prints all that the command has to say. */
async function reveal(
  output: CredentialCommandDeps,
  options: CommonOptions,
  { client, secret }: { readonly client: Client; readonly secret: Secret },
  more: Readonly<Record<string, string | null>> = {},
): Promise<void> {
  const record = {
    client_id: client.id,
    client_secret: secret.reveal(),
    ...describe(client),
    ...more,
  }
  const lines = [...linesOf(record), 'The secret is not shown again.']
  await output.reveal(resultLines(options, record, lines).join('\n'))
}

/** The secret may be on the screen by now, so a failure says whether it may be in force. */
async function storing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    throw new CommandFailed(
      error instanceof NothingChanged
        ? `${error.message}; a secret that was shown is not in force, so try again`
        : `${error.message}; a client or secret that was shown may be in force: check ${commandHint('client list')}, and disable the client or rotate its secret`,
    )
  }
}

function describe({ customerId, boundTo, name, scopes, method }: Client) {
  const bound = boundTo === null ? {} : { bound_to: boundTo }
  const record = { customer_id: customerId, ...bound, name, scope: scopes.join(' ') }
  if (method.kind !== 'issuer') return record
  return { ...record, issuer: method.issuer, external_id: method.externalId }
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
