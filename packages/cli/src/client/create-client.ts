import { readTextFile } from '@bursar/base'
import { operatorScopes } from '@bursar/contract'
import { createClient, readClientKeys } from '@bursar/oauth'
import type { ClientMethod } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, isPrintable, newCommand, refuseUsage } from '../options.ts'
import { linesOf, printResult } from '../output.ts'
import { type CreateOption, noCreateOption } from '../with-stores.ts'
import {
  acceptedOf,
  type CredentialCommandDeps,
  describe,
  reveal,
  scopesIn,
  storing,
} from './shown-client.ts'

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

export function createCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('create', 'Create a client and print its secret once.', [
    'client create --customer northwind --name "Northwind treasury"',
    'client create --operator --name Payouts --scope ingest:consume_fee',
    'client create --operator --customer northwind --name Branch --scope ingest:write_statements',
  ])
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
