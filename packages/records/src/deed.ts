import { type Deed, Problem } from '@bursar/contract'
import { NothingChanged } from './unavailable.ts'

/** The audit log needs an entry of a deed although it has failed. The cause is what is answered. */
export class DeedFailed extends Error {
  readonly deed: Deed

  constructor(deed: Deed, cause: unknown) {
    super('a deed has failed', { cause })
    this.deed = deed
    // A span describes it as its cause.
    const { name, status, slug, code } = Object(cause)
    Object.assign(this, { name, status, slug, code })
  }
}

/** Does a deed. The caller returns it with its answer; an error that may hide its effect has it. */
export async function doing<T>(deed: Deed, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw unlessUndone(deed, error)
  }
}

/** The error as it is if nothing was done, and else with the deed, whose outcome is unknown. */
function unlessUndone(deed: Deed, error: unknown): unknown {
  const isRefusal = error instanceof Problem && error.status < 500
  const cause = error instanceof Problem ? error.cause : error
  const isUndone = isRefusal || cause instanceof NothingChanged
  return isUndone ? error : new DeedFailed({ ...deed, outcome: 'unknown' }, error)
}
