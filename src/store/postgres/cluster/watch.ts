import { setTimeout as resting } from 'node:timers/promises'
import { limits } from '../../../platform/limits.ts'
import type { Logger } from '../../../platform/log.ts'
import { unavailable } from '../driver/failure.ts'
import { openReplayLag } from './replay-lag.ts'
import type { Server } from './server.ts'

/** Knows which of the servers is the primary, and which standbys are near enough to it. */
export type Watch = {
  primary(): Server
  /**
   * A standby that has replayed `notBefore` and is near enough, else the primary; undefined where there is neither but
   * those that have just `failed`.
   */
  reader(notBefore: bigint, failed: ReadonlySet<Server>): Server | undefined
  /** Whether `reader` would find one. */
  hasReader(notBefore: bigint): boolean
  /** Looks at every server as soon as the look that may be under way is over. */
  lookSoon(): void
  /** The same, and resolves when that look is over, or after so long. */
  look(withinMs: number): Promise<void>
  onNewPrimary(run: (server: Server) => void): () => void
  stop(): void
}

export type WatchOptions = {
  readonly primaries: readonly Server[]
  readonly standbys: readonly Server[]
  readonly lagMsMax: number
  readonly log: Logger
}

/** Resolves after the first look, whatever it found, and goes on looking until it is stopped. */
export async function openWatch({
  primaries,
  standbys,
  lagMsMax,
  log,
}: WatchOptions): Promise<Watch> {
  const lag = openReplayLag(2 * lagMsMax + 10 * limits.databaseLookIntervalMs)
  const listeners = new Set<(server: Server) => void>()
  let primary: Server | undefined
  let timeline = 0
  let primarySeenAt = performance.now()
  let turn = 0

  const found = (server: Server, sight: { timeline: number; position: bigint }) => {
    primarySeenAt = performance.now()
    if (server !== primary || sight.timeline !== timeline) {
      log.info({ server: server.label, timeline: sight.timeline }, 'the primary is found')
      if (sight.timeline !== timeline) lag.forget()
      primary = server
      timeline = sight.timeline
      for (const listener of listeners) listener(server)
    }
    lag.sawPrimary(sight.position, primarySeenAt)
  }
  const look = async () => {
    await Promise.all(primaries.map((server) => server.look()))
    const newest = newestPrimary(primaries)
    // One on an earlier timeline than was seen before has come back from the dead.
    if (newest !== undefined && newest.sight.timeline >= timeline)
      found(newest.server, newest.sight)
    else if (primary !== undefined) {
      log.warn({ server: primary.label }, 'the primary is lost')
      primary = undefined
    }
    // After the primary, so that a standby that keeps up has replayed what the primary was seen to have.
    await Promise.all(standbys.map((server) => server.look()))
  }
  const isNear = (server: Server, notBefore: bigint): boolean => {
    const sight = server.sight()
    // A timeline that is not the primary's: it follows a primary of before, or has not replayed the promotion yet.
    if (sight === undefined || sight.timeline !== timeline) return false
    if (sight.role === 'primary') return true
    const lostFor = primary === undefined ? performance.now() - primarySeenAt : 0
    if (sight.position < notBefore || lostFor > limits.databasePrimaryLostMs) return false
    return lag.of(sight.position, performance.now() - lostFor) <= lagMsMax
  }
  await look()
  const { soon, stop } = repeat(look, limits.databaseLookIntervalMs)
  return {
    primary: () => {
      if (primary === undefined) throw unavailable('no primary is to be found')
      return primary
    },
    reader: (notBefore, failed) => {
      const near = standbys.filter((server) => !failed.has(server) && isNear(server, notBefore))
      turn += 1
      const server = near[turn % near.length] ?? primary
      return server === undefined || failed.has(server) ? undefined : server
    },
    hasReader: (notBefore) =>
      primary !== undefined || standbys.some((server) => isNear(server, notBefore)),
    lookSoon: () => void soon(),
    look: (withinMs) =>
      Promise.race([soon(), resting(Math.max(0, withinMs), undefined, { ref: false })]),
    onNewPrimary: (run) => {
      listeners.add(run)
      if (primary !== undefined) run(primary)
      return () => listeners.delete(run)
    },
    stop,
  }
}

/** Of two that both take themselves for the primary, the one on the later timeline was promoted. */
function newestPrimary(servers: readonly Server[]) {
  const found = servers.flatMap((server) => {
    const sight = server.sight()
    return sight?.role === 'primary' ? [{ server, sight }] : []
  })
  return found.toSorted((a, b) => b.sight.timeline - a.sight.timeline)[0]
}

/**
 * The next run begins when the last has ended and the rest is over, or was cut short by `soon`, which resolves when a run
 * that began after the call has ended.
 */
function repeat(run: () => Promise<void>, restMs: number) {
  let stopped = false
  let running = false
  let wanted: PromiseWithResolvers<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const start = () => {
    clearTimeout(timer)
    running = true
    const waitedFor = wanted
    wanted = undefined
    void run().finally(() => {
      running = false
      waitedFor?.resolve()
      if (wanted !== undefined && !stopped) start()
      else rest()
    })
  }
  const rest = () => {
    if (!stopped) timer = setTimeout(start, restMs).unref()
  }
  rest()
  return {
    soon: async () => {
      if (stopped) return
      wanted ??= Promise.withResolvers()
      const { promise } = wanted
      if (!running) start()
      await promise
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
      wanted?.resolve()
    },
  }
}
