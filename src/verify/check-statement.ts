import type { Session } from './client/client-session.ts'
import type { Credentials } from './client/client-tokens.ts'
import type { Exchange, Send } from './client/exchange.ts'
import { type List, lists, type SingleRead, singleReads } from './contract.ts'
import { type Cited, citedOf, type Source } from './source.ts'
import { Broken, type Evidence, type NoAnswer, NotTestable } from './verdicts.ts'

/** What the statements are checked with. */
export type Context = {
  readonly session: Session
  /** A client of another customer. */
  readonly other: Session | undefined
  readonly send: Send
  readonly tokenUrl: string
  readonly client: Credentials
  readonly allowFees: boolean
  readonly observed: Observed
}

/** What the run has seen so far, beside what the statements ask. */
export type Observed = {
  /** Requests without an answer that can be read. */
  readonly failures: readonly NoAnswer[]
  /** Answers 429 and 5xx. */
  readonly refusals: readonly Exchange[]
  readonly requests: number
}

export type CheckList = (context: Context, list: List) => Promise<unknown>

/**
 * One promise to clients. A check that returns means held; a text that it returns is a remark. It
 * throws `Broken` or `NotTestable` otherwise.
 */
export type Statement = {
  /** Group and name, such as `paging.each-once`. Scripts rely on it. */
  readonly id: string
  readonly says: string
  readonly source: Source
} & (
  | { readonly check: (context: Context) => Promise<unknown> }
  | {
      readonly checkList: CheckList
      readonly lists?: readonly List[]
    }
  | { readonly checkRead: (context: Context, read: SingleRead) => Promise<unknown> }
)

export type Fault = Cited & {
  /** What it was seen in; absent if the statement is about no list. */
  readonly list?: string
  readonly says: string
  readonly evidence: Evidence
}

export type Finding = {
  readonly statement: Statement
  readonly verdict: 'held' | 'broken' | 'not testable'
  readonly faults: readonly Fault[]
  /** Why a list was left out, or the whole statement; and remarks of the check. */
  readonly notes: readonly string[]
}

/** One operation that a statement is about, or the statement alone. */
type Subject = Cited & {
  readonly list?: string
  readonly run: (context: Context) => Promise<unknown>
}

export function subjectsOf(statement: Statement): readonly Subject[] {
  const { source } = statement
  if ('check' in statement) return [{ ...citedOf(source), run: statement.check }]
  if ('checkRead' in statement) {
    return singleReads.map((read) => ({
      ...citedOf(source, { section: read.section }),
      list: `${read.list.name}, read alone`,
      run: (context) => statement.checkRead(context, read),
    }))
  }
  return (statement.lists ?? lists).map((list) => ({
    ...citedOf(source, list, list),
    list: list.name,
    run: (context) => statement.checkList(context, list),
  }))
}

/** Checks one statement, on every operation that it is about. */
export async function findingOf(
  statement: Statement,
  context: Context,
  subjects = subjectsOf(statement),
): Promise<Finding> {
  const outcomes: Outcome[] = []
  for (const subject of subjects) outcomes.push(await outcomeOf(subject, context))
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

async function outcomeOf({ run, ...about }: Subject, context: Context): Promise<Outcome> {
  const at = { list: about.list }
  try {
    const note = await run(context)
    return { verdict: 'held', ...at, ...(typeof note === 'string' && { note }) }
  } catch (error) {
    if (error instanceof NotTestable) return { verdict: 'not testable', ...at, note: error.message }
    if (!(error instanceof Broken)) throw error
    const { message: says, evidence } = error
    return { verdict: 'broken', ...at, fault: { ...about, says, evidence } }
  }
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
