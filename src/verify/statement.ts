import type { Send } from './exchange.ts'
import { type List, lists } from './lists.ts'
import type { Session } from './session.ts'
import type { Credentials } from './tokens.ts'
import { Broken, type Evidence, NotTestable } from './verdicts.ts'

/** What the statements are checked with. */
export type Context = {
  readonly session: Session
  /** A client of another customer. */
  readonly other: Session | undefined
  readonly send: Send
  readonly tokenUrl: string
  readonly client: Credentials
  readonly allowFees: boolean
}

/**
 * One promise to clients. A check that returns means held; a text that it returns is a remark. It
 * throws `Broken` or `NotTestable` otherwise.
 */
export type Statement = {
  /** Group and name, such as `paging.each-once`. Scripts rely on it. */
  readonly id: string
  readonly says: string
  /** `bursar` marks what the contract leaves open and Bursar has settled. */
  readonly source: 'contract' | 'bursar'
} & (
  | { readonly check: (context: Context) => Promise<unknown> }
  | {
      readonly checkList: (context: Context, list: List) => Promise<unknown>
      readonly lists?: readonly List[]
    }
)

export type Fault = { readonly list?: string; readonly says: string; readonly evidence: Evidence }

export type Finding = {
  readonly statement: Statement
  readonly verdict: 'held' | 'broken' | 'not testable'
  readonly faults: readonly Fault[]
  /** Why a list was left out, or the whole statement; and remarks of the check. */
  readonly notes: readonly string[]
}

/** Checks one statement, on every list that it is about. */
export async function findingOf(statement: Statement, context: Context): Promise<Finding> {
  const subjects = 'check' in statement ? [undefined] : (statement.lists ?? lists)
  const outcomes: Outcome[] = []
  for (const list of subjects) outcomes.push(await outcomeOf(statement, context, list))
  const faults = outcomes.flatMap(({ fault }) => fault ?? [])
  const isHeld = outcomes.some(({ verdict }) => verdict === 'held')
  return {
    statement,
    verdict: faults.length > 0 ? 'broken' : isHeld ? 'held' : 'not testable',
    faults,
    notes: sameNotes(outcomes),
  }
}

type Outcome = {
  readonly verdict: Finding['verdict']
  readonly list: string | undefined
  readonly fault?: Fault
  readonly note?: string
}

async function outcomeOf(
  statement: Statement,
  context: Context,
  list: List | undefined,
): Promise<Outcome> {
  const named = list === undefined ? {} : { list: list.name }
  const at = { list: list?.name }
  try {
    const note = await run(statement, context, list)
    return { verdict: 'held', ...at, ...(typeof note === 'string' && { note }) }
  } catch (error) {
    if (error instanceof NotTestable) return { verdict: 'not testable', ...at, note: error.message }
    if (!(error instanceof Broken)) throw error
    const { message: says, evidence } = error
    return { verdict: 'broken', ...at, fault: { ...named, says, evidence } }
  }
}

async function run(statement: Statement, context: Context, list: List | undefined) {
  if ('check' in statement) return statement.check(context)
  return list && statement.checkList(context, list)
}

/** `statements, deposit addresses: it has no record`: one note for each reason. */
function sameNotes(outcomes: readonly Outcome[]): readonly string[] {
  const noted = outcomes.filter(({ note }) => note !== undefined)
  return [...Map.groupBy(noted, ({ note }) => note ?? '')].map(([note, of]) => {
    const names = of.flatMap(({ list }) => list ?? [])
    const isEverywhere = of.length === outcomes.length
    return isEverywhere || names.length === 0 ? note : `${names.join(', ')}: ${note}`
  })
}
