import { PageHeading } from '../parts/heading.tsx'
import { checkText, figureText, memberWord } from '../parts/health-text.ts'
import { RequestPlot } from '../parts/service-card.tsx'
import { feeNetworks, type HealthAnswer, partName, useHealth } from '../parts/service-health.ts'
import { Failure, Loading } from '../parts/states.tsx'
import { Button } from '../values/button.tsx'
import { wordOf } from '../values/labels.ts'
import { ShownTime } from '../values/shown-time.tsx'
import { Status } from '../values/status.tsx'
import { isInstant } from '../values/times.ts'

/** What a process knows of its parts: the store and its standbys, damage, the sources of fees. */
export function Health() {
  const [loaded, retry] = useHealth()
  return (
    <section aria-label="Health">
      <div className="page-head">
        <PageHeading title="Health" />
        <p>As the process saw it that has answered</p>
        <span className="grow" />
        <Button className="button" data-key="r" onClick={retry}>
          Refresh <kbd>R</kbd>
        </Button>
      </div>
      {loaded.state === 'loading' && (
        <div className="card">
          <Loading what="the health of the service" />
        </div>
      )}
      {loaded.state === 'failed' && (
        <div className="card">
          <Failure error={loaded.error} retry={retry} />
        </div>
      )}
      {loaded.state === 'loaded' && loaded.value !== undefined && <Parts health={loaded.value} />}
    </section>
  )
}

function Parts({ health }: { readonly health: HealthAnswer }) {
  return (
    <div className="tiles">
      <section className="card" aria-label="Service">
        <header>
          <h2>Service</h2>
          <Status value={health.status} title={`status: ${health.status}`} />
        </header>
        <div className="body">
          <RequestPlot health={health} />
          {health.requests === undefined && (
            <p className="quiet">The process counts no requests.</p>
          )}
        </div>
      </section>
      {Object.entries(health.checks)
        .filter(([name]) => name !== 'fees')
        .map(([name, check]) => (
          <section key={name} className="card" aria-label={partName(name)}>
            <header>
              <h2 title={`checks.${name}`}>{partName(name)}</h2>
              <Status value={check.status} title={`status: ${check.status}`} />
            </header>
            <div className="body">
              <p className="soft">{checkText(name, check)}</p>
              {name !== 'imports' && <Details details={check} />}
            </div>
          </section>
        ))}
      <FeePrices health={health} />
      <Jobs health={health} />
    </div>
  )
}

function Details({ details }: { readonly details: Readonly<Record<string, unknown>> }) {
  const said = ['status', 'age_ms', 'dropped_lines']
  const shown = Object.entries(details).filter(([name]) => !said.includes(name))
  if (shown.length === 0) return null
  return (
    <dl className="facts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt title={name} data-member={name}>
            {memberWord(name)}
          </dt>
          <dd>
            <Detail name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Detail({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (typeof value === 'string' && isInstant(value)) return <ShownTime at={value} form="age" />
  if (typeof value !== 'object' || value === null) return figureText(name, value)
  return (
    <ul>
      {Object.entries(value).map(([own, part]) => (
        <li key={own}>
          {partName(own)}:{' '}
          {typeof part === 'object' && part !== null
            ? Object.entries(part)
                .map(([member, figure]) => `${memberWord(member)} ${figureText(member, figure)}`)
                .join(', ')
            : figureText(own, part)}
        </li>
      ))}
    </ul>
  )
}

/** Where the fee of each network comes from, and how old its price is. */
function FeePrices({ health }: { readonly health: HealthAnswer }) {
  const networks = feeNetworks(health)
  const status = health.checks.fees?.status
  if (status === undefined) return null
  return (
    <section className="card wide" aria-label="Fee prices">
      <header>
        <h2 title="checks.fees">Fee prices</h2>
        <Status value={status} title={`status: ${status}`} />
      </header>
      <div className="table-wrap">
        <table aria-label="Fee prices">
          <thead>
            <tr>
              <th scope="col">Network</th>
              <th scope="col">Source</th>
              <th scope="col">Age</th>
            </tr>
          </thead>
          <tbody>
            {networks.map(([network, { source = '', age_s: age }]) => (
              <tr key={network}>
                <th scope="row" title={network}>
                  {wordOf(network)}
                </th>
                <td>{source === 'schedule' ? 'fixed schedule' : source}</td>
                <td className="quiet">{age === undefined ? '' : figureText('age_s', age)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** What the process runs on timers, and when each job ran last. */
function Jobs({ health }: { readonly health: HealthAnswer }) {
  return (
    <section className="card wide" aria-label="Jobs">
      <header>
        <h2 title="jobs">Jobs</h2>
        <p>What the process runs on timers</p>
      </header>
      <div className="table-wrap">
        <table aria-label="Jobs">
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col">Status</th>
              <th scope="col">Last run</th>
              <th scope="col" className="num">
                Took
              </th>
              <th scope="col" className="num">
                Every
              </th>
            </tr>
          </thead>
          <tbody>
            {health.jobs.map((job) => (
              <tr key={`${job.name} ${job.of ?? ''}`}>
                <th scope="row" title={job.name}>
                  {wordOf(job.name.replaceAll('-', '_'))}
                  {job.of !== undefined && ` (${wordOf(job.of)})`}
                </th>
                <td>
                  <Status value={job.status} title={`status: ${job.status}`} />
                </td>
                <td className="quiet">
                  <ShownTime at={job.ran_at} form="age" />
                </td>
                <td className="num">
                  {job.took_ms === undefined ? '' : figureText('took_ms', job.took_ms)}
                </td>
                <td className="num">{figureText('every_s', job.every_s)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
