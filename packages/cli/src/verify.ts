import { counted, hintOf, httpUrlFault } from '@bursar/base'
import { allStatements, isWordOf, type Result, Unreachable, verifyTarget } from '@bursar/verify'
import { Command, Option } from 'commander'
import { refuseUsage, withExamples } from './options.ts'
import { CommandFailed, type Output, resultLines } from './output.ts'

type VerifyCommandOptions = {
  readonly target: string
  readonly tokenUrl?: string
  readonly clientId: string
  readonly clientSecret?: string
  readonly otherClientId?: string
  readonly otherClientSecret?: string
  readonly customer?: string
  readonly allowFees?: boolean
  readonly only?: readonly string[]
  readonly contract?: boolean
  readonly json?: boolean
}

/** A secret in the environment does not show in the list of processes. */
const secretVariable = 'VERIFY_CLIENT_SECRET'
const otherSecretVariable = 'VERIFY_OTHER_CLIENT_SECRET'

export function verifyCommand(output: Output): Command {
  return withExamples(new Command('verify'), [
    'verify --target http://127.0.0.1:8080 --client-id acme_sandbox --client-secret bursar_sandbox_secret_of_acme',
  ])
    .description('Check the statements of the API’s contract against a running server.')
    .requiredOption('--target <url>', 'The base URL of the server, before /v2.')
    .requiredOption('--client-id <id>', 'A client of the customer whose records are read.')
    .addOption(
      new Option('--client-secret <secret>', 'The secret of the client.')
        .env(secretVariable)
        .argParser(trimmed),
    )
    .option('--other-client-id <id>', 'A client of another customer, to check isolation.')
    .addOption(
      new Option('--other-client-secret <secret>', 'The secret of that client.')
        .env(otherSecretVariable)
        .argParser(trimmed),
    )
    .option('--token-url <url>', 'The token endpoint (default: TARGET/oauth2/token).')
    .option('--customer <id>', 'The customer id; without it, records or introspection name it.')
    .option('--allow-fees', 'Also check the fee operation, which stores guaranteed fees.')
    .option('--only <ids...>', 'Check only these statements, or groups such as paging.')
    .option('--contract', 'Check only what the contract states.')
    .option('--json', 'Print one JSON object to stdout and nothing else.')
    .action(async (options: VerifyCommandOptions, command: Command) => {
      refuseUsage(command, usageFault(options))
      const target = options.target.replace(/\/+$/, '')
      const print = (line: string) => options.json !== true && output.print(line)
      const results = await verifyTarget({
        target,
        tokenUrl: options.tokenUrl ?? `${target}/oauth2/token`,
        client: { id: options.clientId, secret: options.clientSecret ?? '' },
        otherClient: otherOf(options),
        customer: options.customer,
        allowFees: options.allowFees === true,
        ...(options.only !== undefined && { only: options.only }),
        contractOnly: options.contract === true,
        report: (result) => linesOf(result).forEach(print),
      }).catch((error: unknown) => {
        if (!(error instanceof Unreachable)) throw error
        return command.error(error.message, { exitCode: 2 })
      })
      const document = documentOf(target, results)
      for (const line of resultLines(options, document, [summaryOf(document)])) output.print(line)
      if (document.broken > 0) throw new CommandFailed(brokenOf(results))
    })
}

/** A line end after a secret is no part of it. */
const trimmed = (secret: string): string => secret.trim()

function usageFault(options: VerifyCommandOptions): string | undefined {
  const { target, tokenUrl = target, clientSecret = '', otherClientId, otherClientSecret } = options
  for (const [name, url] of Object.entries({ '--target': target, '--token-url': tokenUrl })) {
    const fault = urlFault(url)
    if (fault !== undefined) return `${name} ${fault}`
  }
  const unknown = options.only?.find((word) => !allStatements.some(({ id }) => isWordOf(word, id)))
  if (unknown !== undefined) {
    const words = allStatements.flatMap(({ id }) => [id, id.replace(/\..*/, '')])
    return `--only ${unknown}: there is no such statement or group${hintOf(unknown, words)}`
  }
  if (clientSecret === '') return `--client-secret must be given, or ${secretVariable} set`
  const hasOtherSecret = otherClientSecret !== undefined && otherClientSecret !== ''
  if (otherClientId !== undefined && !hasOtherSecret) {
    return `--other-client-id needs --other-client-secret, or ${otherSecretVariable}`
  }
  return undefined
}

/** The fault does not repeat the URL, which may hold a password. */
function urlFault(text: string): string | undefined {
  const fault = httpUrlFault(text)
  if (fault !== undefined) return fault
  const { username, password, search, hash } = new URL(text)
  if (username !== '' || password !== '') return 'must have no user and no password'
  return search === '' && hash === '' ? undefined : 'must have no query and no fragment'
}

const otherOf = ({ otherClientId: id, otherClientSecret: secret }: VerifyCommandOptions) =>
  id === undefined || secret === undefined ? undefined : { id, secret }

/** One line, and for each fault what was seen, its source, the request and the answer. */
function linesOf({ id, verdict, says, source, notes, faults }: Result): readonly string[] {
  const why = notes.length === 0 ? '' : ` (${notes.join('; ')})`
  const extra =
    verdict === 'broken' && source === 'extra' ? ' (extra: the contract leaves it open)' : ''
  return [
    `${verdict.padEnd(12)}  ${id}: ${says}${extra}${why}`,
    ...faults.flatMap((fault) => [
      `    ${fault.list === undefined ? '' : `${fault.list}: `}${fault.says}`,
      `    source: ${fault.cited}`,
      `    request: ${fault.request}`,
      `    answer: ${fault.answer}`,
    ]),
  ]
}

/** The statements of the contract first, since only those break it. */
function brokenOf(results: readonly Result[]): string {
  const broken = results.filter(({ verdict }) => verdict === 'broken')
  const { contract = [], extra = [] } = Object.groupBy(broken, ({ source }) => source)
  const names = [...contract.map(({ id }) => id), ...extra.map(({ id }) => `${id} (extra)`)]
  const verb = broken.length === 1 ? 'is' : 'are'
  return `${counted(broken.length, 'statement')} ${verb} broken: ${names.join(', ')}`
}

function documentOf(target: string, statements: readonly Result[]) {
  const count = (verdict: Result['verdict']) =>
    statements.filter((statement) => statement.verdict === verdict).length
  const isExtra = ({ verdict, source }: Result) => verdict === 'broken' && source === 'extra'
  return {
    target,
    held: count('held'),
    broken: count('broken'),
    broken_extra: statements.filter(isExtra).length,
    not_testable: count('not testable'),
    statements,
  }
}

function summaryOf(document: ReturnType<typeof documentOf>): string {
  const { statements, held, broken, broken_extra: extra, not_testable } = document
  const which = extra === 0 ? '' : ` (${extra} extra)`
  return `${counted(statements.length, 'statement')}: ${held} held, ${broken} broken${which}, ${not_testable} not testable`
}
