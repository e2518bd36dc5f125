import type { Session } from './client/client-session.ts'
import type { Credentials } from './client/client-tokens.ts'
import type { Exchange, Send } from './client/exchange.ts'
import { type List, lists, type SingleRead, singleReads } from './contract.ts'
import { type Cited, citedOf, type Law } from './laws.ts'
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

/** What the run has seen so far of every request. */
export type Observed = {
  /** Requests without an answer that can be read. */
  readonly failures: readonly NoAnswer[]
  /** Answers 429 and 5xx. */
  readonly refusals: readonly Exchange[]
  readonly requests: number
}

type CheckOnce = (context: Context) => Promise<unknown>
export type CheckList = (context: Context, list: List) => Promise<unknown>
type CheckRead = (context: Context, read: SingleRead) => Promise<unknown>

/**
 * Finds out whether a target keeps a law. A check that returns means held; a text that it returns
 * is a remark. It throws `Broken` or `NotTestable` otherwise.
 */
export type Check = (
  | { readonly check: CheckOnce }
  | { readonly checkList: CheckList; readonly lists: readonly List[] }
  | { readonly checkRead: CheckRead }
) & {
  /** The law, if it stands for several names, such as `filters.{filter}`. */
  readonly law?: string
}

/** Checks by the id of their law: group and name, such as `paging.each-once`. Scripts use them. */
export type Checks = Readonly<Record<string, Check>>

export const once = (check: CheckOnce): Check => ({ check })

/** On each list. */
export const each = (checkList: CheckList): Check => eachOf(lists, checkList)

/** On each of some lists. */
export const eachOf = (of: readonly List[], checkList: CheckList): Check => ({
  checkList,
  lists: of,
})

/** On each operation that reads one record. */
export const alone = (checkRead: CheckRead): Check => ({ checkRead })

/** A law with its check. */
export type Statement = Law & Check & { readonly id: string }

/** What came of a statement, without secrets, tokens and account numbers. */
export type Result = Cited & {
  readonly id: string
  readonly verdict: 'held' | 'broken' | 'not testable'
  readonly says: string
  /** Why a list was left out, or the whole statement; and remarks of the check. */
  readonly notes: readonly string[]
  readonly faults: readonly Fault[]
}

type Fault = Cited & {
  /** Absent if the statement is about no list. */
  readonly list?: string
  readonly says: string
  readonly request: string
  readonly answer: string
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
  return statement.lists.map((list) => ({
    ...citedOf(source, list, list),
    list: list.name,
    run: (context) => statement.checkList(context, list),
  }))
}

/**
 * Checks one statement, on every operation that it is about. `redacted` removes from a text what no
 * report may show.
 */
export async function checkStatement(
  statement: Statement,
  context: Context,
  subjects: readonly Subject[],
  redacted: (text: string) => string,
): Promise<Result> {
  const outcomes: Outcome[] = []
  for (const subject of subjects) outcomes.push(await outcomeOf(subject, context, redacted))
  const faults = outcomes.flatMap(({ fault }) => fault ?? [])
  const isHeld = outcomes.some(({ verdict }) => verdict === 'held')
  // A broken statement breaks the contract if one of its faults does.
  const worst = faults.find(({ source }) => source === 'contract') ?? faults[0]
  const { source, cited } = worst ?? citedOf(statement.source)
  return {
    id: statement.id,
    verdict: faults.length > 0 ? 'broken' : isHeld ? 'held' : 'not testable',
    says: statement.says,
    source,
    cited,
    notes: sameNotes(outcomes).map(redacted),
    faults,
  }
}

type Outcome = {
  readonly verdict: Result['verdict']
  readonly list: string | undefined
  readonly fault?: Fault
  readonly note?: string
}

async function outcomeOf(
  { run, ...about }: Subject,
  context: Context,
  redacted: (text: string) => string,
): Promise<Outcome> {
  const { list } = about
  try {
    const note = await run(context)
    return { verdict: 'held', list, ...(typeof note === 'string' && { note }) }
  } catch (error) {
    if (error instanceof NotTestable) return { verdict: 'not testable', list, note: error.message }
    if (!(error instanceof Broken)) throw error
    const { request, sent, ...seen } = error.evidence
    const fault = {
      ...about,
      says: redacted(error.message),
      request: `${redacted(request)}${sent === undefined ? '' : ` (${redacted(sent)})`}`,
      answer: answerOf(seen, redacted),
    }
    return { verdict: 'broken', list, fault }
  }
}

/** The status, and the answer from its beginning, or the part of it that shows the fault. */
function answerOf(
  { status, text = '', part }: Omit<Evidence, 'request'>,
  redacted: (text: string) => string,
): string {
  if (status === undefined) return 'none'
  if (part === undefined) return `${status} ${redacted(text)}`.trim()
  return `${status} … ${redacted(JSON.stringify(part))}`
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
