import { type Background, type Logger, limitsOf, systemTime } from '@bursar/base'
import type { StoreServer } from '@bursar/records'
import { unavailable } from '../driver/failure.ts'
import type { Health, Server } from './server.ts'

const limits = limitsOf({
  /** Without a primary nobody knows how old a standby is. It is read from for this long. */
  databasePrimaryLostMs: 300_000,
})

/** Knows which server is the primary, and which standbys follow it. */
export type Monitor = {
  primary(): Server
  /** The first standby of the list that can be read, else the primary. Skips `failed` servers. */
  reader(failed: ReadonlySet<Server>): Server | undefined
  /** Checks every server now, or right after the check that is running. */
  checkSoon(): void
  /** The same. Resolves when that check has ended, or after `withinMs`. */
  check(withinMs: number): Promise<void>
  onNewPrimary(run: (server: Server) => void): () => void
  states(): readonly StoreServer[]
  stop(): void
}

export type MonitorDeps = {
  readonly primaries: readonly Server[]
  readonly standbys: readonly Server[]
  readonly log: Logger
  readonly background: Background
  /** Whose sessions the servers hold, where a process has several. */
  readonly of: string | undefined
}

/** Resolves after the first check, whatever its result, and repeats the check until stopped. */
export async function openMonitor(deps: MonitorDeps): Promise<Monitor> {
  const { primaries, standbys, log, background, of } = deps
  const listeners = new Set<(server: Server) => void>()
  let primary: Server | undefined
  let timeline = 0
  let primarySeenAt = systemTime.elapsedMs()

  const noteStandby = noteFailures(log)
  const usePrimary = (server: Server, health: Health) => {
    primarySeenAt = systemTime.elapsedMs()
    if (server !== primary || health.timeline !== timeline) {
      // At the start the line of the address says as much.
      const level = timeline === 0 ? 'debug' : 'info'
      log[level]({ server: server.label, timeline: health.timeline }, 'found the primary')
      primary = server
      timeline = health.timeline
      for (const listener of listeners) listener(server)
    }
  }
  const checkAll = async () => {
    await Promise.all([...primaries, ...standbys].map((server) => server.checkHealth()))
    const newest = newestPrimary(primaries)
    // An old primary may rejoin on an earlier timeline; ignore it.
    if (newest !== undefined && newest.health.timeline >= timeline) {
      usePrimary(newest.server, newest.health)
    } else if (primary !== undefined) {
      log.warn({ server: primary.label, reason: whyNone(primaries) }, 'lost the primary')
      primary = undefined
    }
    for (const server of standbys) noteStandby(server)
  }
  const lostForMs = () => (primary === undefined ? systemTime.elapsedMs() - primarySeenAt : 0)
  const isReadable = (server: Server): boolean => {
    const health = server.health()
    if (health?.role !== 'standby' || health.isPaused) return false
    // A standby on another timeline follows an old primary or has not replayed the promotion yet.
    return health.timeline === timeline && lostForMs() <= limits.databasePrimaryLostMs
  }
  const stateOf = (server: Server): StoreServer => {
    const isUsed = server === primary || (standbys.includes(server) && isReadable(server))
    return { name: server.label, role: server.health()?.role ?? 'unknown', isUsed }
  }
  const checks = background.start('check-database-servers', checkAll, { of })
  await checks.runSoon()
  return {
    primary: () => {
      if (primary === undefined) throw unavailable(`no primary answers: ${whyNone(primaries)}`)
      return primary
    },
    reader: (failed) => {
      const standby = standbys.find((server) => !failed.has(server) && isReadable(server))
      if (standby !== undefined) return standby
      return primary !== undefined && failed.has(primary) ? undefined : primary
    },
    checkSoon: () => void checks.runSoon(),
    check: async (withinMs) => {
      const late = Promise.withResolvers<void>()
      const cancel = systemTime.after(Math.max(0, withinMs), late.resolve)
      await Promise.race([checks.runSoon(), late.promise])
      cancel()
    },
    onNewPrimary: (run) => {
      listeners.add(run)
      if (primary !== undefined) run(primary)
      return () => listeners.delete(run)
    },
    states: () => statesByName([...standbys, ...primaries].map(stateOf)),
    stop: checks.stop,
  }
}

/** Logs a standby once when it fails, for each reason, and once when it answers again. */
function noteFailures(log: Logger): (server: Server) => void {
  const noted = new Map<Server, string>()
  return (server) => {
    // The server itself logs a role that is refused.
    const isDown = server.health() === undefined && server.refusal() === undefined
    const reason = isDown ? server.failure() : undefined
    if (reason === noted.get(server)) return
    if (reason === undefined) {
      noted.delete(server)
      log.info({ server: server.label }, 'a standby answers again')
    } else {
      noted.set(server, reason)
      log.warn({ server: server.label, reason }, 'cannot read from a standby')
    }
  }
}

/** A server may be in both lists: it may become the primary, and is read from as a standby. */
function statesByName(states: readonly StoreServer[]): readonly StoreServer[] {
  const byName = new Map<string, StoreServer>()
  for (const state of states) {
    const known = byName.get(state.name)
    byName.set(state.name, { ...state, ...known, isUsed: state.isUsed || known?.isUsed === true })
  }
  return [...byName.values()]
}

/** Why each of the servers is not the primary. */
function whyNone(servers: readonly Server[]): string {
  const reasonOf = (server: Server): string => {
    const role = server.health()?.role
    if (role === 'standby') return 'it is a standby'
    return role === 'primary' ? 'it is an old primary' : (server.failure() ?? 'it was just lost')
  }
  return servers.map((server) => `${server.label}: ${reasonOf(server)}`).join(', ')
}

/** If two servers both claim to be the primary, the later timeline belongs to the promoted one. */
function newestPrimary(servers: readonly Server[]) {
  const found = servers.flatMap((server) => {
    const health = server.health()
    return health?.role === 'primary' ? [{ server, health }] : []
  })
  return found.toSorted((a, b) => b.health.timeline - a.health.timeline)[0]
}
