import { limitsOf } from './declare-limits.ts'
import { baseLimits } from './limits.ts'
import { type Repeater, repeat } from './schedule.ts'
import { systemTime } from './time.ts'

const limits = limitsOf({
  /** How often a process looks which of its imports somebody has cancelled. */
  importsLookedMs: 1000,
  /** How often a server looks for rows of imports that are too old, of which a run takes some. */
  importsForgottenMs: 60_000,
  /** How often a process writes what it has counted, and the head of its chain. */
  auditReportMs: 60_000,
  /** How often a server looks for the log of a killed import. */
  storeLogCheckedMs: 60_000,
  /** A server looks so often at the files of its store. A look takes some 40 microseconds. */
  storeLookMs: 1000,
  /** Interval of the health check of every database server. It finds a new primary. */
  databaseHealthCheckIntervalMs: 500,
  /** How often a server looks for consumptions of other processes. Its own have events at once. */
  feesAnnouncedEveryMs: 1000,
  /** How often a server under npm looks whether npm was killed. It costs a system call. */
  parentCheckMs: 500,
  /** Every process must refuse a disabled client within 10 s: two polls and a margin. */
  credentialPollMs: 2000,
  /** How often another issuer’s keys are fetched. */
  issuerRefreshMs: 5 * 60 * 1000,
  /** How often the metrics count what is stored: as often as Prometheus usually reads them. */
  metricsCountedMs: 15_000,
})

type Job = {
  readonly does: string
  /** The file that runs it. */
  readonly in: string
  /** The usual pause between two runs. A fee schedule sets that of its networks. */
  readonly everyMs: number
}

/**
 * Every job that runs on a timer in a server, in the order of the health document. Each process
 * runs its own; a server without the operator's rights has no sweep and no checks of what is
 * stored.
 */
export const jobs = {
  'read-credentials': {
    does: 'reads changed clients, keys and revoked tokens',
    in: 'packages/oauth/src/tokens/credential-cache.ts',
    everyMs: limits.credentialPollMs,
  },
  'fetch-issuer-keys': {
    does: 'fetches the keys of a trusted issuer',
    in: 'packages/oauth/src/tokens/issuer-keys.ts',
    everyMs: limits.issuerRefreshMs,
  },
  'observe-costs': {
    does: 'asks the nodes of a network what a transfer costs',
    in: 'packages/fees/src/sources/fee-refresher.ts',
    everyMs: baseLimits.feeRefreshMs,
  },
  'observe-prices': {
    does: 'asks the price sources',
    in: 'packages/fees/src/sources/fee-refresher.ts',
    everyMs: baseLimits.feeRefreshMs,
  },
  'sweep-fee-quotes': {
    does: 'deletes fee quotes past their retention',
    in: 'packages/server/src/works/withdrawal-fees/sweep-quotes.ts',
    everyMs: baseLimits.quoteSweepIdleMs,
  },
  'watch-imports': {
    does: 'looks which imports of the process somebody has cancelled',
    in: 'packages/records/src/imports/open-imports.ts',
    everyMs: limits.importsLookedMs,
  },
  'forget-imports': {
    does: 'empties idempotency keys after a day, and deletes old rows of imports',
    in: 'packages/server/src/works/forget-imports.ts',
    everyMs: limits.importsForgottenMs,
  },
  'report-audit': {
    does: 'writes the counts of the minute to the audit log, and its head to the log',
    in: 'packages/records/src/audit/report-audit.ts',
    everyMs: limits.auditReportMs,
  },
  'compare-records': {
    does: 'compares stored records with their checksums, and with what is derived from them',
    in: 'packages/intake/src/stored/record-walk.ts',
    everyMs: baseLimits.walkRoundRestMs,
  },
  'check-tables': {
    does: 'looks each row of the embedded store up by its key and every index',
    in: 'packages/sqlite/src/files/damage-watch.ts',
    everyMs: baseLimits.walkRoundRestMs,
  },
  'check-store-files': {
    does: 'checks that the files of the embedded store are in place and can be written',
    in: 'packages/sqlite/src/files/watch-files.ts',
    everyMs: limits.storeLookMs,
  },
  'empty-write-ahead-log': {
    does: 'empties a write-ahead log that an import has left behind',
    in: 'packages/sqlite/src/open-sqlite-store.ts',
    everyMs: limits.storeLogCheckedMs,
  },
  'check-database-servers': {
    does: 'finds the primary, and the standbys that may be read',
    in: 'packages/postgres/src/cluster/monitor.ts',
    everyMs: limits.databaseHealthCheckIntervalMs,
  },
  'close-untaken-answers': {
    does: 'closes connections whose client does not take its answer',
    in: 'packages/server/src/server/connections/connection-bounds.ts',
    everyMs: baseLimits.answerTakenLookMs,
  },
  'announce-consumed-fees': {
    does: 'adds the events of fees that withdrawals have consumed',
    in: 'packages/server/src/works/withdrawal-fees/announce-consumed.ts',
    everyMs: limits.feesAnnouncedEveryMs,
  },
  'wake-readers': {
    does: 'answers requests that wait for events, and looks for events where none are announced',
    in: 'packages/records/src/change-watch.ts',
    everyMs: baseLimits.readersLookMs,
  },
  'measure-service': {
    does: 'counts open fee quotes and imports, and reads the delay of the event loop',
    in: 'packages/server/src/service-gauges.ts',
    everyMs: limits.metricsCountedMs,
  },
  'watch-npm': {
    does: 'ends a server whose npm was killed',
    in: 'packages/cli/src/processes/signals.ts',
    everyMs: limits.parentCheckMs,
  },
} as const satisfies Readonly<Record<string, Job>>

export type JobName = keyof typeof jobs

/** How a run ended. A run that found damage or a server that is down has not failed. */
export type Ran = {
  /** The pause until the next run, where it is not the usual one. */
  readonly pauseMs?: number
  readonly isFailed?: boolean
}

type Start = {
  /** The network, issuer or server, if a process runs the job for several. */
  readonly of?: string | undefined
  readonly everyMs?: number
  /** The pause before the first run. */
  readonly firstMs?: number
}

/** Instants are microseconds since 1970, UTC. */
export type JobState = {
  readonly name: JobName
  readonly of: string | undefined
  readonly everyMs: number
  /** The last run that has ended. */
  readonly last: { readonly at: bigint; readonly tookMs: number } | undefined
  /** When the first of the failed runs began, if the last run failed. */
  readonly failingSince: bigint | undefined
  /** When the next run is due, or since when a run goes on. */
  readonly next: { readonly at: bigint } | { readonly runningSince: bigint }
}

/** Runs the jobs of a process, and knows when each ran last. */
export type Background = {
  /** Repeats a job that never rejects, one run at a time, until it is stopped. */
  start(name: JobName, run: () => Promise<Ran> | Promise<void>, how?: Start): Repeater
  /** The jobs that have not been stopped. */
  states(): readonly JobState[]
}

export function openBackground(): Background {
  const running = new Set<() => JobState>()
  return {
    start: (name, run, { of, everyMs = jobs[name].everyMs, firstMs = everyMs } = {}) => {
      const dueIn = (pauseMs: number) => ({
        at: systemTime.now() + BigInt(Math.round(pauseMs * 1000)),
      })
      let state: JobState = {
        name,
        of,
        everyMs,
        last: undefined,
        failingSince: undefined,
        next: dueIn(firstMs),
      }
      const runOnce = async () => {
        const at = systemTime.now()
        const begunAt = systemTime.elapsedMs()
        state = { ...state, next: { runningSince: at } }
        const { pauseMs = everyMs, isFailed = false } = (await run()) ?? {}
        state = {
          ...state,
          last: { at, tookMs: systemTime.elapsedMs() - begunAt },
          failingSince: isFailed ? (state.failingSince ?? at) : undefined,
          next: dueIn(pauseMs),
        }
        return pauseMs
      }
      const repeater = repeat(runOnce, firstMs)
      const read = () => state
      running.add(read)
      return {
        runSoon: repeater.runSoon,
        stop: () => {
          running.delete(read)
          repeater.stop()
        },
      }
    },
    states: () => {
      const states = [...running].map((read) => read())
      const names = Object.keys(jobs)
      return states.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name))
    },
  }
}
