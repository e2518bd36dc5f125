import { type MovableClock, parseInstant, printInstant, systemTime } from '@bursar/base'
import {
  type BodyInput,
  invalidParameters,
  moveSandboxClock,
  type OperatorWorks,
  readSandboxClock,
} from '@bursar/contract'

/** Tokens, certificates and clients handle these times. */
const EARLIEST = Date.UTC(2000, 0, 1)
const LATEST = Date.UTC(2100, 0, 1)

/** `moved` is called after each move, so that nothing takes it for a defect of the clock. */
export function clockWorks(clock: MovableClock, moved: () => Promise<void>): OperatorWorks {
  const answer = () => ({
    body: { now: printInstant(clock.now()), is_real: clock.offset() === 0n },
  })
  return {
    [readSandboxClock.id]: async () => answer(),
    [moveSandboxClock.id]: async ({ body }) => {
      clock.setOffset(offsetOf(body, clock.offset()))
      await moved()
      return answer()
    },
  }
}

const members = ['now', 'advance_seconds', 'real'] as const

function offsetOf(body: BodyInput, offset: bigint): bigint {
  const [given, other] = members.filter((member) => body.has(member))
  if (given === undefined) {
    throw invalidParameters([
      { parameter: 'body', code: 'missing', reason: `must have one of ${members.join(', ')}` },
    ])
  }
  if (other !== undefined) {
    const reason = `must not be set beside ${given}`
    throw invalidParameters([{ parameter: other, code: 'conflicting', reason }])
  }
  if (given === 'real') return 0n
  const real = systemTime.now()
  const now =
    given === 'now'
      ? (parseInstant(body.get('now') ?? '')?.micros ?? real)
      : real + offset + BigInt(body.get('advance_seconds') ?? 0) * 1_000_000n
  if (now < BigInt(EARLIEST) * 1000n || now >= BigInt(LATEST) * 1000n) {
    const reason = 'must give a time from 2000 to 2099'
    throw invalidParameters([{ parameter: given, code: 'out_of_range', reason }])
  }
  return now - real
}
