import { Argument, Command } from 'commander'
import { figure, uuid } from '../contract/fields.ts'
import { canonicalAddress } from '../fees/addresses/canonical-address.ts'
import { checkAddress } from '../fees/addresses/check-address.ts'
import type { Clock } from '../platform/clock.ts'
import { addressPolicy } from '../service.ts'
import type { FeeQuote, FeeQuoteStore } from '../store/fee-quotes.ts'
import { type CryptoNetwork, cryptoNetworks } from '../values/network.ts'
import { describeQuote } from '../withdrawal-fees/describe-quote.ts'
import { consumeProblem } from '../withdrawal-fees/fee-problems.ts'
import { openCommandStores } from './command-stores.ts'
import { scheduleCommand } from './fee-schedule.ts'
import { type CommonOptions, configOf, withCommonOptions } from './options.ts'
import { CommandFailed, type Output } from './output.ts'

/** `fee show|consume|schedule|check-address`: guaranteed fees, as the withdrawal side sees them. */
export function feeCommand(output: Output, clock: Clock): Command {
  return new Command('fee')
    .description('Guaranteed withdrawal fees, as the withdrawal side sees them.')
    .addCommand(showCommand(output))
    .addCommand(consumeCommand(output, clock))
    .addCommand(scheduleCommand(output, clock))
    .addCommand(checkAddressCommand(output))
}

function showCommand(output: Output): Command {
  const command = withCommonOptions(new Command('show'))
    .description('Show a guaranteed fee: what it is bound to, and what became of it.')
    .argument('<id>', 'the fee')
  return command.action(async (given: string, options: CommonOptions) => {
    const id = readId(command, given)
    const quote = await withQuotes(options, ({ operator }) => operator.find(id))
    if (quote === undefined) throw new CommandFailed(`There is no fee ${id}.`)
    printQuote(output, options, quote)
  })
}

type ConsumeOptions = CommonOptions & {
  readonly customer: string
  readonly asset: string
  readonly network: string
  readonly address: string
  readonly amount: string
  readonly withdrawal: string
}

function consumeCommand(output: Output, clock: Clock): Command {
  const command = withCommonOptions(new Command('consume'))
    .description('Take a guaranteed fee for one withdrawal; the same one again changes nothing.')
    .argument('<id>', 'the fee')
    .requiredOption('--customer <id>', 'whose withdrawal it is')
    .requiredOption('--asset <asset>', 'what is withdrawn')
    .requiredOption('--network <network>', 'on which network')
    .requiredOption('--address <address>', 'where to, in any spelling of the network')
    .requiredOption('--amount <amount>', 'what arrives, the fee not included')
    .requiredOption('--withdrawal <reference>', 'what the paying system calls the withdrawal')
  return command.action(async (given: string, options: ConsumeOptions) => {
    const id = readId(command, given)
    refuseUsage(command, options)
    const { customer: customerId, asset, network, address, amount, withdrawal } = options
    const request = { id, customerId, asset, network, address, amount, withdrawal, at: clock() }
    const consumed = await withQuotes(options, ({ operator }) => operator.consume(request))
    if (consumed.outcome === 'consumed') return printQuote(output, options, consumed.quote)
    const { detail, meta } = consumeProblem(consumed, id)
    if (options.json === true) {
      output.print(JSON.stringify({ refused: consumed.outcome, detail, ...meta }))
    }
    throw new CommandFailed(`${detail}${meta === undefined ? '' : ` ${JSON.stringify(meta)}`}`)
  })
}

function refuseUsage(command: Command, { amount, network, withdrawal }: ConsumeOptions): void {
  const reading = figure.read(amount)
  if ('reason' in reading) command.error(`--amount ${reading.reason}.`, { exitCode: 2 })
  if (!cryptoNetworks.some((known) => known === network)) {
    command.error(`--network must be one of ${cryptoNetworks.join(', ')}.`, { exitCode: 2 })
  }
  if (!/^[^\p{Cc}]{1,200}$/u.test(withdrawal)) {
    command.error('--withdrawal must have 1 to 200 printable characters.', { exitCode: 2 })
  }
}

function checkAddressCommand(output: Output): Command {
  return withCommonOptions(new Command('check-address'))
    .description('Say whether an address is one that may be paid to, or why not.')
    .addArgument(new Argument('<network>', 'on which network').choices(cryptoNetworks))
    .argument('<address>', 'the address')
    .action((network: CryptoNetwork, address: string, options: CommonOptions) => {
      const policy = addressPolicy(configOf(options))
      const check = checkAddress(network, address, policy)
      if (!check.valid) {
        const { reason, detail } = check
        if (options.json === true) output.print(JSON.stringify({ valid: false, reason, detail }))
        throw new CommandFailed(`not valid on ${network}: ${detail} (${reason})`)
      }
      const { kind, memoId } = check
      const canonical = canonicalAddress(network, address, policy)
      if (options.json === true) {
        output.print(JSON.stringify({ valid: true, kind, canonical, memo_id: memoId }))
        return
      }
      output.print(`valid on ${network}: ${kind}, ${canonical}`)
    })
}

function readId(command: Command, given: string): string {
  const reading = uuid.read(given)
  return 'reason' in reading
    ? command.error('The id must be a UUID.', { exitCode: 2 })
    : reading.value
}

/** Opens the store for one piece of work and closes it again, whatever comes of that. */
async function withQuotes<T>(
  options: CommonOptions,
  work: (quotes: FeeQuoteStore) => Promise<T>,
): Promise<T> {
  const stores = await openCommandStores(options)
  try {
    return await work(stores.quotes())
  } finally {
    await stores.close()
  }
}

function printQuote(output: Output, { json }: CommonOptions, quote: FeeQuote): void {
  const members = describeQuote(quote)
  if (json === true) {
    output.print(JSON.stringify(members))
    return
  }
  for (const [name, value] of Object.entries(members)) output.print(`${name}: ${value}`)
}
