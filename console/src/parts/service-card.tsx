import { linkTo } from '../router.ts'
import { Icon } from '../values/icon.tsx'
import { useIsUtc } from '../values/preferences.ts'
import { clockOf } from '../values/times.ts'
import { counted } from './attention.tsx'
import { checkText } from './health-text.ts'
import { Sparkline } from './plot.tsx'
import { type HealthAnswer, partName, warningsOf } from './service-health.ts'
import { Failure, Loading } from './states.tsx'
import type { Loaded } from './use-load.ts'

/** How the process that answers is, in a few lines; Health has all of it. */
export function ServiceCard({ health }: { readonly health: Loaded<HealthAnswer | undefined> }) {
  const warnings = health.state === 'loaded' ? warningsOf(health.value).length : 0
  return (
    <section className="card" aria-labelledby="service">
      <header>
        <h2 id="service">Service</h2>
        <p>{warnings === 0 ? '' : `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`}</p>
        <a href={linkTo(['health'])}>Health</a>
      </header>
      <div className="body">
        {health.state === 'loading' && <Loading what="the health of the service" lines={5} />}
        {health.state === 'failed' && <Failure error={health.error} retry={() => {}} />}
        {health.state === 'loaded' && health.value !== undefined && (
          <>
            <Checks health={health.value} />
            <RequestPlot health={health.value} />
          </>
        )}
      </div>
    </section>
  )
}

function Checks({ health }: { readonly health: HealthAnswer }) {
  return (
    <ul className="checks">
      {Object.entries(health.checks).map(([name, check]) => {
        const isOk = check.status === 'ok' || check.status === 'ready'
        const tone = isOk ? 'ok' : check.status === 'degraded' ? 'wait' : 'bad'
        return (
          <li key={name}>
            <Icon name={tone} className={tone} />
            <span className="grow" title={`checks.${name}`}>
              {partName(name)}
            </span>
            <span className="val">{checkText(name, check)}</span>
          </li>
        )
      })}
    </ul>
  )
}

/** Requests a minute in the last hour, of the process that answers. */
export function RequestPlot({ health }: { readonly health: HealthAnswer }) {
  const isUtc = useIsUtc()
  const minutes = health.requests?.minutes ?? []
  const [first, last] = [minutes[0], minutes.at(-1)]
  if (first === undefined || last === undefined) return null
  const counts = minutes.map(({ count }) => count)
  const failed = minutes.reduce((sum, minute) => sum + minute.failed, 0)
  const words = `between ${Math.min(...counts)} and ${Math.max(...counts)}, the last ${last.count}`
  return (
    <figure className="requests">
      <figcaption>
        Requests a minute, {counted(minutes.length, 'minute')}
        <b>{last.count}</b>
      </figcaption>
      <Sparkline values={counts} label={`Requests a minute: ${words}`} />
      <p className="quiet">
        <span>{clockOf(new Date(first.at), isUtc)}</span>
        <span>{failed === 0 ? 'none failed' : `${failed} failed`}</span>
        <span>{clockOf(new Date(last.at), isUtc)}</span>
      </p>
    </figure>
  )
}
