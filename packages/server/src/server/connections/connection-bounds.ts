import type { Server, ServerResponse } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import {
  type Background,
  baseLimits,
  type Logger,
  limitsOf,
  networkOf,
  openTally,
  systemTime,
  type Tally,
} from '@bursar/base'
import { type Problem, problem } from '@bursar/contract'

const limits = limitsOf({
  /** Requests in progress on a process. More would wait for the stores longer than clients do. */
  requestsInProgressMax: 5000,
  /** A client must take an answer within this time: a page of 1 MB at 280 kbit/s. */
  answerTakenMs: 30_000,
  /** Pause between two warnings of one kind that a stranger can cause. Each has a count. */
  warningRestMs: 1000,
})

/** Bounds what clients may hold: connections, requests in progress, and answers not yet taken. */
export type ConnectionBounds = {
  /** Closes connections over the limit of their address, and those that do not take an answer. */
  watch(server: Server): void
  /** Counts a request, or returns why it is refused. */
  admit(address: string, path: string): Problem | Admission
  stop(): void
}

/** A request in progress. */
export type Admission = {
  end(): void
  /** Counts it no more while it waits for news, and returns what counts it again. */
  rest(): () => void
}

export type Bounds = {
  /** Connections, and requests in progress, of one address. */
  readonly perAddressMax: number
  /** Their connections carry the requests of others, so only those are counted. */
  readonly trustedProxies: readonly string[]
  readonly requestsMax?: number
  readonly answerTakenMs?: number
  readonly background: Background
  /** Whose server it is, where a process has several. */
  readonly of?: string | undefined
}

export function openConnectionBounds(bounds: Bounds, log: Logger): ConnectionBounds {
  const { perAddressMax, requestsMax = limits.requestsInProgressMax } = bounds
  const isTrusted = openTrusted(bounds.trustedProxies)
  const [connections, requests] = [openTally(), openTally()]
  const warn = openWarning(
    log,
    'closed connections over the limit of their address (BURSAR_CONNECTIONS_PER_ADDRESS_MAX)',
  )
  const warnOfFull = openWarning(log, 'refused connections, since the process holds no more')
  const answers = openAnswers(bounds, log)
  return {
    watch: (server) => {
      // Beyond `maxConnections`. They come from anywhere, so one address would say nothing.
      server.on('drop', () => warnOfFull(undefined))
      server.on('connection', (socket) => {
        const address = socket.remoteAddress
        // A socket that is closed already has no address.
        if (address === undefined || isTrusted(address)) return
        const release = take(connections, networkOf(address), perAddressMax)
        if (release !== undefined) socket.once('close', release)
        else {
          warn(address)
          socket.destroy()
        }
      })
      server.on('request', (_request, response) => answers.watch(response))
    },
    admit: (address, path) => {
      // A supervisor would restart a process that is only busy.
      if (path === '/healthz') return uncounted
      if (requests.total() >= requestsMax) return tooManyInProgress
      const key = networkOf(address)
      const max = isTrusted(address) ? Number.POSITIVE_INFINITY : perAddressMax
      const release = take(requests, key, max)
      return release === undefined
        ? tooManyOfAddress
        : admission(release, () => {
            requests.add(key, 1)
          })
    },
    stop: answers.stop,
  }
}

const uncounted: Admission = { end: () => {}, rest: () => () => {} }

/** A request that has waited is not refused, so there may be more than the limit for a moment. */
function admission(release: () => void, again: () => void): Admission {
  let isCounted = true
  let hasEnded = false
  const uncount = () => {
    if (isCounted) release()
    isCounted = false
  }
  return {
    end: () => {
      hasEnded = true
      uncount()
    },
    rest: () => {
      uncount()
      return () => {
        if (hasEnded || isCounted) return
        isCounted = true
        again()
      }
    },
  }
}

const tooManyInProgress = problem(
  'unavailable',
  'the service has too many requests in progress; send the request again',
  { retryAfter: 1 },
)

const tooManyOfAddress = problem(
  'tooManyRequests',
  'your address has too many requests in progress; wait for their answers',
  { retryAfter: 1 },
)

function openTrusted(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => ranges.length > 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** Returns the function that gives one back. Undefined if the key holds as many as it may. */
function take(tally: Tally, key: string, max: number): (() => void) | undefined {
  if (tally.of(key) >= max) return undefined
  tally.add(key, 1)
  return () => tally.add(key, -1)
}

/** Warns at most once a second, so that a stranger cannot fill the log. No event goes uncounted. */
function openWarning(log: Logger, text: string): (address: string | undefined) => void {
  let closed = 0
  let last: string | undefined
  let isResting = false
  const warn = () => {
    isResting = closed > 0
    if (!isResting) return
    log.warn({ ...(last !== undefined && { address: last }), closed }, text)
    closed = 0
    systemTime.after(limits.warningRestMs, warn)
  }
  return (address) => {
    closed += 1
    last = address
    if (!isResting) warn()
  }
}

type OpenAnswer = { readonly response: ServerResponse; begunAt: number | undefined; index: number }

/**
 * Closes the connection of an answer that is not taken in time. An answer that waits behind another
 * one of its connection has no socket yet, so its time has not begun.
 */
function openAnswers(
  { background, of, answerTakenMs = limits.answerTakenMs }: Bounds,
  log: Logger,
) {
  // A `Map` would copy itself into another table again and again. Old tables keep their requests
  // alive, so nearly every request would survive until a full garbage collection.
  const open: OpenAnswer[] = []
  const warn = openWarning(log, 'closed connections whose client did not take an answer in time')
  const everyMs = Math.min(baseLimits.answerTakenLookMs, answerTakenMs / 4)
  const sweep = () => {
    const now = systemTime.elapsedMs()
    for (const answer of open) {
      const { response } = answer
      if (!response.headersSent || response.socket === null) continue
      answer.begunAt ??= now
      if (now - answer.begunAt >= answerTakenMs) {
        warn(response.socket.remoteAddress)
        response.socket.destroy()
      }
    }
  }
  return {
    watch: (response: ServerResponse) => {
      const answer: OpenAnswer = { response, begunAt: undefined, index: open.length }
      open.push(answer)
      response.on('close', () => {
        const last = open.pop()
        if (last === undefined || last === answer) return
        open[answer.index] = last
        last.index = answer.index
      })
    },
    stop: background.start('close-untaken-answers', async () => sweep(), { of, everyMs }).stop,
  }
}
