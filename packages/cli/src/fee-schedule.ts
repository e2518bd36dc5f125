import { type Clock, openLog } from '@bursar/base'
import { describeSchedule, observedFees, type ScheduleRow } from '@bursar/fees'
import type { Command } from 'commander'
import { type CommonOptions, configOf, newCommand } from './options.ts'
import { type Output, printResult } from './output.ts'

/** `fee schedule`: the fees that the server would quote with this configuration. */
export function scheduleCommand(output: Output, clock: Clock): Command {
  return newCommand('schedule', 'Print the fee of every asset and network, and its parts.', [
    'fee schedule',
    'fee schedule --json',
  ]).action(async (options: CommonOptions) => {
    const config = configOf(options)
    const log = openLog('silent')
    const basis = await observedFees({ config, environment: process.env, clock, log })
    const rows = describeSchedule(basis, clock())
    printResult(output, options, { fees: rows.map(membersOf) }, table(rows.map(cellsOf)))
  })
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
