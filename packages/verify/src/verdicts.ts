/** What a fault was seen in: an exchange, or a request that got no answer. */
export type Evidence = {
  readonly request: string
  /** What was particular about the request, such as `without a token`. */
  readonly sent?: string
  readonly status?: number
  readonly text?: string
  /** The part of a long answer that shows the fault. */
  readonly part?: unknown
}

/** The target breaks the statement. The message says how, without account numbers and secrets. */
export class Broken extends Error {
  override readonly name = 'Broken'
  readonly evidence: Evidence

  constructor(message: string, evidence: Evidence) {
    super(message)
    this.evidence = evidence
  }
}

/** The target's records, or the options, do not suffice to check the statement. */
export class NotTestable extends Error {
  override readonly name = 'NotTestable'
}

/**
 * No answer came that can be read. One statement is about all of them, since each other statement
 * would only repeat that fault.
 */
export class NoAnswer extends NotTestable {
  readonly kind: 'incomplete' | 'undecodable'
  readonly evidence: Evidence

  constructor(kind: NoAnswer['kind'], message: string, evidence: Evidence) {
    super(message)
    this.kind = kind
    this.evidence = evidence
  }
}

/** Nothing can be checked: no connection, or no token. The message says what to change. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Throws `Broken` unless the condition holds. */
export function hold(condition: boolean, says: string, evidence: Evidence): asserts condition {
  if (!condition) throw new Broken(says, evidence)
}

/** Throws `Broken` unless the answer has this status. */
export function holdStatus(answered: Evidence, status: number): void {
  hold(answered.status === status, `the status must be ${status}`, answered)
}

/** The contract shows no status codes of errors. Bursar's own are statements about problems. */
export function isRefusal({ status }: Evidence): boolean {
  return status !== undefined && status >= 400 && status < 500
}

/** Throws `NotTestable` unless the condition holds. */
export function need(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new NotTestable(reason)
}

/** For `catch`, if another check can take the place of one that is not testable. */
export function ifNotTestable(error: unknown): undefined {
  if (!(error instanceof NotTestable)) throw error
}
