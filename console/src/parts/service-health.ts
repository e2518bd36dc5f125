import { requestJson } from '../api/send-request.ts'
import { useSession } from '../session/console-session.ts'
import { capital } from '../values/labels.ts'
import { checkText } from './health-text.ts'
import { type Loaded, useLoad } from './use-load.ts'

type Check = Readonly<Record<string, unknown>> & { readonly status: string }

export type HealthAnswer = {
  readonly status: string
  readonly checks: Readonly<Record<string, Check>>
  readonly jobs: readonly (Check & { readonly name: string; readonly of?: string })[]
  readonly requests?: {
    readonly minutes: readonly {
      readonly at: string
      readonly count: number
      readonly failed: number
    }[]
  }
}

/** What the process that answers knows of its parts. Undefined without the right to read it. */
export function useHealth(): readonly [Loaded<HealthAnswer | undefined>, refresh: () => void] {
  const session = useSession()
  return useLoad('health', async (signal) =>
    session.scopes.has('ingest:read_health')
      ? await requestJson<HealthAnswer>(session, '/ingest/v1/health', { signal })
      : undefined,
  )
}

/** Fee prices from a node that are older than this are no longer the price of today. */
const STALE_SECONDS = 3600

type FeeNetwork = { readonly source?: string; readonly age_s?: number }

/** The networks whose node has not answered for an hour. A schedule has no age that counts. */
export function staleNetworks(health: HealthAnswer | undefined) {
  return feeNetworks(health)
    .filter(([, { source, age_s: age = 0 }]) => source !== 'schedule' && age > STALE_SECONDS)
    .map(([network, { age_s: age = 0 }]) => ({ network, age }))
}

export function feeNetworks(
  health: HealthAnswer | undefined,
): readonly (readonly [network: string, source: FeeNetwork])[] {
  const networks = health?.checks.fees?.networks
  return typeof networks === 'object' && networks !== null ? Object.entries(networks) : []
}

/** What people call the parts of the service. */
const parts: Readonly<Record<string, string>> = {
  store: 'Store',
  integrity: 'Damage check',
  credentials: 'Credentials',
  fees: 'Fee prices',
  process: 'Process',
  log: 'Log',
  standbys: 'Standby copies',
  standby: 'Standby copy',
  audit: 'Audit log',
  imports: 'Imports',
}

export const partName = (name: string): string => parts[name] ?? capital(name.replaceAll('_', ' '))

function warningText(name: string, check: Check): string {
  if (check.status !== 'degraded') return `${partName(name)} does not work`
  return name === 'imports'
    ? `Imports: ${checkText(name, check)}`
    : `${partName(name)} works in part`
}

/** The parts that do not work, or work in part. */
export function warningsOf(health: HealthAnswer | undefined) {
  const checks = Object.entries(health?.checks ?? {})
  return checks
    .filter(([, { status }]) => status !== 'ok' && status !== 'ready')
    .map(([name, check]) => ({
      key: `check ${name}`,
      tone: check.status === 'degraded' ? ('wait' as const) : ('bad' as const),
      say: warningText(name, check),
      why: 'Health has the details',
      much: '',
      unit: '',
    }))
}
