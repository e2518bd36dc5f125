import { type Check, cryptoNetworks, type Finding } from '@bursar/base'
import {
  arePricesMissing,
  causeInWords,
  describeSchedule,
  type FeeBasis,
  type FeesDeps,
  observedFees,
  silentNetworks,
  type Unavailable,
} from '@bursar/fees'

type FeeDeps = Omit<FeesDeps, 'environment' | 'background'>

/** Checks that fees can be quoted, and that their sources answer. */
export function feeChecks(deps: FeeDeps): readonly Check[] {
  let observed: Promise<FeeBasis> | undefined
  const basis = () => {
    observed ??= observedFees({ ...deps, environment: process.env })
    return observed
  }
  return [
    { name: 'fee-schedule', find: async () => scheduleFindings(await basis(), deps.clock()) },
    { name: 'fee-sources', find: async () => sourceFindings(await basis(), deps.clock()) },
  ]
}

function scheduleFindings(basis: FeeBasis, now: bigint): readonly Finding[] {
  const missing = describeSchedule(basis, now).flatMap(({ asset, network, enabled, charge }) =>
    enabled && 'unavailable' in charge ? [{ asset, network, cause: charge.unavailable }] : [],
  )
  return [...Map.groupBy(missing, ({ cause }) => cause)].map(([cause, pairs]) => ({
    what: `no fee can be quoted for ${namesOf(pairs)}: ${causeInWords[cause]}`,
    why: 'customers get 503 for these withdrawals',
    fix: fixes[cause],
  }))
}

function namesOf(pairs: readonly { readonly asset: string; readonly network: string }[]): string {
  const networks = new Set(pairs.map(({ network }) => network))
  if (networks.size === cryptoNetworks.length) return `any of ${pairs.length} assets`
  return pairs.map(({ asset, network }) => `${asset} on ${network}`).join(', ')
}

const fixes: Readonly<Record<Unavailable['cause'], string>> = {
  'sample-not-accepted':
    'write your own costs and prices, with their date, to the file of BURSAR_FEE_SCHEDULE, or name price sources and nodes there (docs/fees.md)',
  'schedule-too-old': 'bring the costs of the fee schedule up to date, and their date',
  'no-fresh-costs': 'look at the nodes of the network, or set its onStale to schedule',
  'prices-too-old': 'bring the prices of the fee schedule up to date, or look at its price sources',
  'prices-diverge': 'look at the price sources, which disagree by more than the schedule allows',
  'off-peg': 'look at the price of the asset, which has left its peg',
}

function sourceFindings(basis: FeeBasis, now: bigint): readonly Finding[] {
  const networks = silentNetworks(basis, now).map(({ network, source }) => ({
    what: `no node of ${network} has answered`,
    why: source === 'schedule' ? 'its fees go by the schedule alone' : 'it has no fees',
    fix: 'check the URLs of its endpoints in the fee schedule, and that they can be reached',
  }))
  if (!arePricesMissing(basis)) return networks
  const prices = {
    what: 'no price source has answered',
    why: 'fees go by the prices of the schedule, as long as their date allows',
    fix: 'check the URLs of priceSources in the fee schedule, and that they can be reached',
  }
  return [...networks, prices]
}
