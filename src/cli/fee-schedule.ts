import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { describeNetworks, describeSchedule, type ScheduleRow } from '../fees/describe-schedule.ts'
import type { FeeBasis } from '../fees/fee-basis.ts'
import { type Fees, openFees } from '../fees/sources/open-fees.ts'
import type { Clock } from '../platform/clock.ts'
import { openLog } from '../platform/log.ts'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { type Output, printResult } from './output.ts'

/** The command queries the nodes itself. This is enough for two queries a second apart. */
const WAIT_MS = 5000
const WAIT_STEP_MS = 50

/** `fee schedule`: the fees that the server would quote with this configuration. */
export function scheduleCommand(output: Output, clock: Clock): Command {
  return newCommand('schedule', 'Print the fee of every asset and network, and its parts.').action(
    async (options: CommonOptions) => {
      const config = configOf(options)
      const log = openLog('silent')
      const fees = openFees({ config, environment: process.env, clock, log })
      await untilLoaded(fees, clock)
      const rows = describeSchedule(fees.current(), clock())
      fees.close()
      printResult(output, options, { fees: rows.map(membersOf) }, table(rows.map(cellsOf)))
    },
  )
}

async function untilLoaded(fees: Fees, clock: Clock): Promise<void> {
  for (let waited = 0; waited < WAIT_MS; waited += WAIT_STEP_MS) {
    if (!isLoading(fees.current(), clock())) return
    await delay(WAIT_STEP_MS)
  }
}

/** Whether a configured node or price source has not answered yet. */
function isLoading(basis: FeeBasis, now: bigint): boolean {
  const { networks, priceSources } = basis.schedule
  const unseen = describeNetworks(basis, now).some(
    ({ network, source }) => networks[network].endpoints.length > 0 && source !== 'live',
  )
  return unseen || (priceSources.length > 0 && basis.prices.size === 0)
}

function membersOf(row: ScheduleRow) {
  const { charge } = row
  const start = {
    asset: row.asset,
    crypto_network: row.network,
    enabled: row.enabled,
    decimals: row.decimals,
    contract: row.token,
    certainty: row.certainty,
    margin_bp: row.marginBasisPoints,
    minimum: row.minimum,
  }
  if ('unavailable' in charge) return { ...start, unavailable: charge.unavailable }
  const { cost, costAsset: cost_asset, fee, source, ageSeconds: age_s } = charge
  return { ...start, cost, cost_asset, fee, source, age_s }
}

const heading = ['asset', 'network', 'decimals', 'cost', 'margin', 'fee', 'source', 'age']

function cellsOf({ asset, network, decimals, marginBasisPoints, enabled, charge }: ScheduleRow) {
  const start = [asset, network, String(decimals)]
  const margin = `${marginBasisPoints / 100} %`
  const state = enabled ? '' : ' (off)'
  if ('unavailable' in charge)
    return [...start, '', margin, '', `${charge.unavailable}${state}`, '']
  const { cost, costAsset, fee, source, ageSeconds } = charge
  return [...start, `${cost} ${costAsset}`, margin, fee, `${source}${state}`, `${ageSeconds} s`]
}

function table(rows: readonly (readonly string[])[]): string[] {
  const all = [heading, ...rows]
  const widths = heading.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)))
  const pad = (cell: string, at: number) => cell.padEnd(widths[at] ?? 0)
  return all.map((row) => row.map(pad).join('  ').trimEnd())
}
