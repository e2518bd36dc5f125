import { type Clock, listed } from '@bursar/base'
import { type Dated, type FeeSchedule, readScheduleFile } from '@bursar/fees'
import { Command } from 'commander'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { CommandFailed, isoOf, type Output, printResult } from './output.ts'

/** `fee-schedule check`: the operator's document, before a server reads it. */
export const feeScheduleCommand = (output: Output, clock: Clock): Command =>
  new Command('fee-schedule')
    .description('Check the fee schedule of the operator.')
    .addCommand(checkCommand(output, clock))

function checkCommand(output: Output, clock: Clock): Command {
  const summary = 'Check a fee schedule for faults, and say since when and until when it serves.'
  return newCommand('check', summary, ['fee-schedule check fees.json', 'fee-schedule check --json'])
    .argument('[file]', 'The document (default: that of BURSAR_FEE_SCHEDULE).')
    .action((given: string | undefined, options: CommonOptions) => {
      const { feeSchedule, acceptSampleFees } = configOf(options)
      const file = given ?? feeSchedule
      const read = readScheduleFile(file, process.env)
      if (!read.ok) {
        if (options.json === true) printResult(output, options, { file, faults: read.faults }, [])
        throw new CommandFailed(listed(read.faults.map((fault) => `${file}: ${fault}`)))
      }
      const parts = partsOf(read.schedule, acceptSampleFees, clock())
      const document = { file: file ?? null, faults: [], ...parts }
      const lines = Object.entries(parts).map(([name, part]) => lineOf(name, part))
      printResult(output, options, document, lines)
    })
}

const partsOf = ({ costs, prices }: FeeSchedule, acceptsSample: boolean, now: bigint) => ({
  costs: describe(costs, acceptsSample, now),
  prices: describe(prices, acceptsSample, now),
})

/** The sample serves for ever where it is accepted, and else never. */
function describe(dated: Dated, acceptsSample: boolean, now: bigint) {
  const { asOf, asOfMicros, maxAgeSeconds } = dated
  if (dated.origin !== 'operator') {
    return { of: 'sample', as_of: asOf, serves: acceptsSample } as const
  }
  const endMicros = asOfMicros + BigInt(maxAgeSeconds) * 1_000_000n
  return {
    of: 'operator',
    as_of: asOf,
    serves: now <= endMicros,
    serves_since: isoOf(asOfMicros),
    serves_until: isoOf(endMicros),
  } as const
}

function lineOf(name: string, part: ReturnType<typeof describe>): string {
  if (part.of === 'sample') {
    const state = part.serves ? 'serve: BURSAR_ACCEPT_SAMPLE_FEES' : 'do not serve'
    return `${name} of the sample, as of ${part.as_of}: ${state}`
  }
  const state = part.serves ? 'serve' : 'do not serve any more'
  return `${name} of the operator: ${state}, since ${part.serves_since}, until ${part.serves_until}`
}
