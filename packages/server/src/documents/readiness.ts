import { type Clock, counted, type Logger, logStateOf } from '@bursar/base'
import {
  causesWithoutFee,
  describeNetworks,
  type FeeBasis,
  type OfferedPair,
  offeredPairs,
  type Unavailable,
} from '@bursar/fees'
import type { Imports, Store, StoreServer, StoreWatch } from '@bursar/records'
import type { ReadinessCheck } from './health.ts'

type ReadinessDeps = {
  readonly store: Pick<Store, 'ping' | 'servers'> & {
    readonly damage: Pick<Store['damage'], 'counts'>
  }
  /** The files of the embedded store. */
  readonly watch?: StoreWatch | undefined
  readonly credentials: {
    freshness(): {
      readonly fresh: boolean
      readonly ageMs: number
      readonly awaitsClients?: boolean
    }
  }
  readonly feeBasis: () => FeeBasis
  readonly clock: Clock
}

export function readinessChecks(deps: ReadinessDeps): ReadinessCheck[] {
  const { store, watch, credentials, feeBasis, clock } = deps
  return [
    {
      name: 'store',
      check: async () => {
        await watch?.requireReady()
        await store.ping()
        const servers = store.servers().map(describeServer)
        return servers.length === 0 ? undefined : { servers }
      },
    },
    {
      name: 'integrity',
      check: async () => {
        const counts = [...store.damage.counts().values()]
        const damaged = counts.reduce((sum, count) => sum + count, 0)
        if (damaged === 0) return undefined
        return { status: 'degraded', damaged, reason: `${counted(damaged, 'record')} damaged` }
      },
    },
    {
      name: 'credentials',
      check: async () => {
        const { fresh, ageMs, awaitsClients } = credentials.freshness()
        if (!fresh) throw new Error('clients, keys and revoked tokens are too old to decide by')
        if (awaitsClients === true)
          throw new Error('the clients of a restored store are not confirmed')
        return { age_ms: ageMs }
      },
    },
    {
      name: 'fees',
      check: async () => {
        const [basis, now] = [feeBasis(), clock()]
        const offered = offeredPairs(basis, now)
        const causes = causesWithoutFee(offered)
        const fault = sourceFault(basis, causes)
        const { status, networks } = feeStates(basis, offered, now)
        if (fault !== undefined) return { status: 'failed', reason: fault, networks }
        return { status, ...(causes.length > 0 && { reason: withoutFee(causes) }), networks }
      },
    },
  ]
}

const describeServer = ({ name, role, isUsed }: StoreServer) => ({ name, role, is_used: isUsed })

/**
 * What keeps every fee from being quoted, if it is a node or a price source. Fees that the operator
 * has not accepted are not offered, and a table that has grown old does not come back by itself.
 */
function sourceFault(
  basis: FeeBasis,
  causesOfAll: readonly Unavailable['cause'][],
): string | undefined {
  const causes = causesOfAll.filter((cause) => cause !== 'sample-not-accepted')
  const hasSources =
    basis.schedule.priceSources.length > 0 ||
    Object.values(basis.schedule.networks).some(({ endpoints }) => endpoints.length > 0)
  return causes.length > 0 && hasSources ? withoutFee(causes) : undefined
}

const withoutFee = (causes: readonly string[]): string =>
  `no fee can be quoted: ${causes.join(', ')}`

/**
 * The source and age of each network's costs, and the assets without a fee with the cause. Prices
 * may be missing where costs are not, so the status counts the assets that can be withdrawn.
 */
function feeStates(basis: FeeBasis, offered: readonly OfferedPair[], now: bigint) {
  const missing = offered.filter(({ cause }) => cause !== undefined)
  const networks = describeNetworks(basis, now).map(({ network, source, ageSeconds, cause }) => {
    const own = missing.filter((entry) => entry.network === network)
    const without = Object.fromEntries(own.map((entry) => [entry.asset, entry.cause]))
    return [
      network,
      { source, age_s: ageSeconds, cause, ...(own.length > 0 && { without_fee: without }) },
    ] as const
  })
  return {
    status: statusOf(missing.length, offered.length),
    networks: Object.fromEntries(networks),
  }
}

function statusOf(missing: number, offered: number): 'ok' | 'degraded' | 'unavailable' {
  if (missing === offered) return 'unavailable'
  return missing === 0 ? 'ok' : 'degraded'
}

/**
 * For the operator alone: how many imports run or ended in the last hour, by state. What an import
 * has left out is no reason to turn customers away, so the part never fails.
 */
export const importsCheck = ({ count }: Pick<Imports, 'count'>): ReadinessCheck => ({
  name: 'imports',
  check: async () => {
    const known = await count().catch(() => undefined)
    if (known === undefined) return { status: 'unavailable', reason: 'the rows cannot be read' }
    const counts = Object.fromEntries(known.map(({ state, imports }) => [state, imports]))
    const { stored_in_part: inPart = 0, lost = 0 } = counts
    const reasons = [
      ...(inPart > 0 ? [`${counted(inPart, 'import')} stored in part`] : []),
      ...(lost > 0 ? [`${counted(lost, 'import')} lost`] : []),
    ]
    if (reasons.length === 0) return counts
    return { status: 'degraded', reason: `in the last hour: ${reasons.join(', ')}`, ...counts }
  },
})

export type Life = { isEnding: boolean }

/** What readiness says about the process itself, beside its stores and fees. */
export const processChecks = (life: Readonly<Life>, log: Logger): ReadinessCheck[] => [
  {
    name: 'process',
    check: async () => {
      if (life.isEnding) throw new Error('the process is shutting down')
      return undefined
    },
  },
  {
    name: 'log',
    // While no process reads the log, a log line could not report this.
    check: async () => {
      const { dropped = 0, isBehind = false } = logStateOf(log) ?? {}
      return { status: isBehind ? 'degraded' : 'ok', dropped_lines: dropped }
    },
  },
]
