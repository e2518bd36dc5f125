import { ConfigError } from './config.ts'

/** What `doctor` has found wrong. Each member is a sentence without its full stop. */
export type Finding = {
  readonly what: string
  /** What happens if it stays. */
  readonly why: string
  /** What the operator can do. */
  readonly fix: string
}

/** One thing that `doctor` looks at. A check that rejects has not found out whether all is well. */
export type Check = {
  readonly name: string
  readonly find: () => readonly Finding[] | Promise<readonly Finding[]>
}

/** The refusal that would end a start. Its first sentence says what, the others what to do. */
function findingOf(refusal: ConfigError): Finding {
  const { message } = refusal
  const [, what = message, fix] = /^(.*?)[.;] (?=[A-Za-z`])(.*)$/s.exec(message) ?? []
  return {
    what: what.replace(/\.$/, ''),
    why: 'the program does not start with it',
    fix: (fix ?? 'correct it, then run doctor again').replace(/\.$/, ''),
  }
}

/** What a check at the start of a server refuses. Other failures pass through. */
export async function refusalOf(check: () => void | Promise<void>): Promise<readonly Finding[]> {
  try {
    await check()
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [findingOf(error)]
  }
}
