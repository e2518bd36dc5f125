import { requestJson } from '../api/send-request.ts'
import { Members } from '../parts/record/member-list.tsx'
import { Failure, Loading } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { useSession } from '../session/console-session.ts'
import { Status } from '../values/status.tsx'

type HealthAnswer = {
  readonly status: string
  readonly checks: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly jobs: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[]
}

/** What a process knows of its parts: the store and its standbys, damage, the sources of fees. */
export function Health() {
  const session = useSession()
  const [loaded, retry] = useLoad('health', (signal) =>
    requestJson<HealthAnswer>(session, '/ingest/v1/health', { signal }),
  )
  return (
    <section aria-label="Health">
      <h1>Health</h1>
      {loaded.state === 'loading' && <Loading what="the health of the service" />}
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={retry} />}
      {loaded.state === 'loaded' && (
        <>
          <Status value={loaded.value.status} />
          <p className="hint">As the process saw it that has answered. Reload to look again.</p>
          {Object.entries(loaded.value.checks).map(([name, check]) => (
            <section key={name} className="card" aria-label={name}>
              <h2>{name}</h2>
              <Status value={check.status} />
              <Members record={withoutStatus(check)} />
            </section>
          ))}
          <section className="card" aria-label="jobs">
            <h2>Jobs</h2>
            <p className="hint">What the process runs on timers, and when each job ran last.</p>
            {loaded.value.jobs.map((job) => (
              <section key={`${job.name} ${job.of}`} aria-label={job.name}>
                <Status value={job.status} />
                <Members record={withoutStatus(job)} />
              </section>
            ))}
          </section>
        </>
      )}
    </section>
  )
}

const withoutStatus = ({ status: _status, ...details }: Readonly<Record<string, unknown>>) =>
  details
