import { type Clock, type CryptoNetwork, cryptoNetworks, hintOf, parseInstant } from '@bursar/base'
import { figure, uuid } from '@bursar/contract'
import { addressPolicy, canonicalAddress, checkAddress } from '@bursar/fees'
import {
  announceConsumed,
  consumeProblem,
  describeQuote,
  findQuote,
} from '@bursar/server/withdrawal-fees'
import { Argument, Command } from 'commander'
import { scheduleCommand } from './fee-schedule.ts'
import {
  type CommonOptions,
  configOf,
  isPrintable,
  newCommand,
  oneOf,
  refuseUsage,
} from './options.ts'
import { CommandFailed, linesOf, type Output, printResult } from './output.ts'
import { withAudit } from './with-stores.ts'

/** `fee show|consume|schedule|check-address`: guaranteed fees, for the withdrawal system. */
export function feeCommand(output: Output, clock: Clock): Command {
  return new Command('fee')
    .description('Show, consume and check guaranteed withdrawal fees.')
    .addCommand(showCommand(output))
    .addCommand(consumeCommand(output))
    .addCommand(scheduleCommand(output, clock))
    .addCommand(checkAddressCommand(output))
}

function showCommand(output: Output): Command {
  const command = newCommand('show', 'Show a guaranteed fee and its state.', [
    'fee show 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11',
  ])
  command.argument('<id>', 'The id of the fee.')
  return command.action(async (given: string, options: CommonOptions) => {
    const id = readId(command, given)
    const record = await withAudit(command, options, async ({ stores }) => {
      const found = await findQuote(stores.quotes(), id)
      if (found === undefined) throw new CommandFailed(`There is no fee ${id}.`)
      return found
    })
    printResult(output, options, record, linesOf(record))
  })
}

type ConsumeOptions = CommonOptions & {
  readonly customer: string
  readonly asset: string
  readonly network: string
  readonly address: string
  readonly amount: string
  readonly withdrawal: string
  readonly consumedAt?: string
}

function consumeCommand(output: Output): Command {
  const summary = 'Consume a guaranteed fee for one withdrawal. It is idempotent.'
  const command = newCommand('consume', summary, [
    'fee consume 8d9f5f1e-1f0b-4f43-9d0c-4a2f8a4a6c11 --customer northwind --asset USDC --network ETHEREUM --address 0xF0Aa84466e353E5390be37FE2934301c07c19a55 --amount 100 --withdrawal payout-7',
  ])
    .argument('<id>', 'The id of the fee.')
    .requiredOption('--customer <id>', 'The customer of the withdrawal.')
    .requiredOption('--asset <asset>', 'The asset that is withdrawn.')
    .requiredOption('--network <network>', 'The network of the withdrawal.')
    .requiredOption('--address <address>', 'The destination, in any valid spelling.')
    .requiredOption('--amount <amount>', 'The amount that arrives, without the fee.')
    .requiredOption('--withdrawal <reference>', "The withdrawal's id in the paying system.")
    .option('--consumed-at <time>', 'After a restore: when the withdrawal had consumed the fee.')
  return command.action(async (given: string, options: ConsumeOptions) => {
    const id = readId(command, given)
    refuseUsage(command, faultOf(options))
    const { customer: customerId, asset, network, address, amount, withdrawal } = options
    const consumedAt = parseInstant(options.consumedAt ?? '')?.micros
    const request = {
      id,
      customerId,
      asset,
      network,
      address,
      amount,
      withdrawal,
      ...(consumedAt !== undefined && { consumedAt }),
    }
    const quote = await withAudit(command, options, async ({ stores, audited }) => {
      const consumed = await stores.quotes().operator.consume(request)
      if (consumed.outcome === 'consumed') {
        audited.note({ ids: [id] })
        // A server adds it where this fails.
        await announceConsumed({ quotes: stores.quotes(), store: stores.records() }).catch(() => {})
        return consumed.quote
      }
      const { detail, meta } = consumeProblem(consumed, id)
      printResult(output, options, { refused: consumed.outcome, detail, ...meta }, [])
      throw new CommandFailed(`${detail}${meta === undefined ? '' : ` ${JSON.stringify(meta)}`}`)
    })
    const record = describeQuote(quote)
    printResult(output, options, record, linesOf(record))
  })
}

function faultOf(options: ConsumeOptions): string | undefined {
  const { amount, network, consumedAt } = options
  const reading = figure.read(amount)
  if ('reason' in reading) return `--amount ${reading.reason}.`
  if (!cryptoNetworks.some((known) => known === network)) {
    return `--network must be one of ${cryptoNetworks.join(', ')}${hintOf(network, cryptoNetworks) || '.'}`
  }
  if (consumedAt !== undefined && parseInstant(consumedAt) === undefined) {
    return '--consumed-at must be a time, such as 2026-11-22T12:00:00Z.'
  }
  const names = ['customer', 'asset', 'address', 'withdrawal'] as const
  const wrong = names.find((name) => !isPrintable(options[name]))
  return wrong && `--${wrong} must have 1 to 200 printable characters.`
}

function checkAddressCommand(output: Output): Command {
  return newCommand('check-address', 'Check whether an address can be paid to.', [
    'fee check-address ETHEREUM 0xF0Aa84466e353E5390be37FE2934301c07c19a55',
  ])
    .addArgument(oneOf(new Argument('<network>', 'The network.'), cryptoNetworks))
    .argument('<address>', 'The address.')
    .action((network: CryptoNetwork, address: string, options: CommonOptions) => {
      const policy = addressPolicy(configOf(options))
      const check = checkAddress(network, address, policy)
      if (!check.valid) {
        const { reason, detail } = check
        printResult(output, options, { valid: false, reason, detail }, [])
        throw new CommandFailed(`not valid on ${network}: ${detail} (${reason})`)
      }
      const { kind, memoId } = check
      const canonical = canonicalAddress(network, address, policy)
      const document = { valid: true, kind, canonical, memo_id: memoId }
      printResult(output, options, document, [`valid on ${network}: ${kind}, ${canonical}`])
    })
}

function readId(command: Command, given: string): string {
  const reading = uuid.read(given)
  if ('value' in reading) return reading.value
  return command.error('The id must be a UUID.', { exitCode: 2 })
}
