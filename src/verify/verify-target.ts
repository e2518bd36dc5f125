import { randomUUID } from 'node:crypto'
import {
  type Context,
  type Fault,
  type Finding,
  findingOf,
  type Observed,
  type Statement,
  subjectsOf,
} from './check-statement.ts'
import { basicOf, type Credentials, openTokens } from './client/client-tokens.ts'
import { type Exchange, type Fetch, openSend, type Send } from './client/exchange.ts'
import { openSession } from './client/open-session.ts'
import { present, textOf } from './json.ts'
import { redact } from './redact.ts'
import { type Cited, citedOf } from './source.ts'
import { allStatements } from './statements/all-statements.ts'
import { NoAnswer } from './verdicts.ts'
import { verifyLimits } from './verify-limits.ts'

export type VerifyOptions = {
  /** Without a slash at its end. */
  readonly target: string
  readonly tokenUrl: string
  readonly client: Credentials
  readonly otherClient?: Credentials | undefined
  readonly customer?: string | undefined
  readonly allowFees: boolean
  /** Checks these statements or groups of them; all without it. */
  readonly only?: readonly string[]
  /** Checks only what the contract states. */
  readonly contractOnly?: boolean
  /** Takes each result as it is found. */
  readonly report?: (result: Result) => void
  readonly requestTimeoutMs?: number
  /** Sends the requests; the global `fetch` by default. */
  readonly fetch?: Fetch
  /** Makes an id that no record has; `randomUUID` by default. */
  readonly newId?: () => string
}

/** A finding without secrets, tokens and account numbers. */
export type Result = Cited & {
  readonly id: string
  readonly verdict: Finding['verdict']
  readonly says: string
  readonly notes: readonly string[]
  readonly faults: readonly ReportedFault[]
}

type ReportedFault = Cited & {
  readonly list?: string
  readonly says: string
  readonly request: string
  readonly answer: string
}

/**
 * Checks every statement against a running server. Throws `Unreachable` if there is no connection
 * or no token.
 */
export async function verifyTarget(options: VerifyOptions): Promise<readonly Result[]> {
  const { target, tokenUrl, client, otherClient, customer, allowFees } = options
  const run = AbortSignal.timeout(verifyLimits.runMs)
  const hidden = new Set(secretsOf([client, otherClient].filter(present)))
  const { fetch = globalThis.fetch, newId = randomUUID } = options
  const timeoutMs = options.requestTimeoutMs ?? verifyLimits.timeoutMs
  const { observed, observe } = openObserved()
  const plainSend = openSend({ fetch, run, timeoutMs, observe })
  const send: Send = async (url, call) => {
    const exchange = await plainSend(url, call)
    const token = textOf(exchange.body, 'access_token')
    if (token !== undefined && token !== '') hidden.add(token)
    return exchange
  }
  const open = async (credentials: Credentials, named?: string, whose?: string) =>
    openSession({
      target,
      send,
      newId,
      ...(whose !== undefined && { whose }),
      customer: named,
      tokens: await openTokens(send, tokenUrl, credentials),
    })
  const session = await open(client, customer)
  const other =
    otherClient && (await open(otherClient, undefined, 'with the token of the second client'))
  const context: Context = { session, other, send, tokenUrl, client, allowFees, observed }
  const results: Result[] = []
  for (const statement of allStatements) {
    const isChosen = isChosenBy(options.only, statement.id)
    if (!isChosen && groupOf(statement.id) !== 'answers') continue
    const subjects = subjectsOf(statement).filter(
      ({ source }) => options.contractOnly !== true || source === 'contract',
    )
    if (subjects.length === 0) continue
    const finding: Finding = run.aborted
      ? { statement, verdict: 'not testable', faults: [], notes: ['the time for the run is over'] }
      : await findingOf(statement, context, subjects)
    if (!isChosen && finding.verdict !== 'broken') continue
    const result = resultOf(finding, [...hidden])
    results.push(result)
    options.report?.(result)
  }
  return results
}

/** What the run sees, for the statements about all answers. */
function openObserved() {
  const failures: NoAnswer[] = []
  const refusals: Exchange[] = []
  let requests = 0
  const observed: Observed = {
    failures,
    refusals,
    get requests() {
      return requests
    },
  }
  const observe = (seen: Exchange | NoAnswer) => {
    requests += 1
    if (seen instanceof NoAnswer) failures.push(seen)
    else if (seen.status === 429 || seen.status >= 500) refusals.push(seen)
  }
  return { observed, observe }
}

/** The secrets in every form in which a request carries them. */
const secretsOf = (clients: readonly Credentials[]): readonly string[] =>
  clients
    .flatMap((one) => [one.secret, encodeURIComponent(one.secret), basicOf(one).slice(6)])
    .filter((secret) => secret !== '')

/** Whether a word is a statement's id or its group, such as `paging`. */
export const isWordOf = (word: string, id: string): boolean =>
  id === word || id.startsWith(`${word}.`)

const isChosenBy = (only: readonly string[] | undefined, id: string): boolean =>
  only === undefined || only.some((word) => isWordOf(word, id))

const groupOf = (id: string): string => id.split('.')[0] ?? ''

function resultOf(
  { statement, verdict, faults, notes }: Finding,
  hidden: readonly string[],
): Result {
  const { id, says } = statement
  const reported = (fault: Fault) => reportedOf(fault, hidden)
  return {
    id,
    verdict,
    says,
    ...citedFor(statement, faults),
    notes: notes.map((note) => redact(note, hidden)),
    faults: faults.map(reported),
  }
}

/** A broken statement breaks the contract if one of its faults does. */
function citedFor({ source }: Statement, faults: readonly Fault[]): Cited {
  const worst = faults.find((fault) => fault.source === 'contract') ?? faults[0]
  if (worst !== undefined) return { source: worst.source, cited: worst.cited }
  return citedOf(source)
}

function reportedOf(fault: Fault, hidden: readonly string[]): ReportedFault {
  const { list, says, source, cited } = fault
  const { request, sent } = fault.evidence
  return {
    ...(list !== undefined && { list }),
    says: redact(says, hidden),
    source,
    cited,
    request: `${redact(request, hidden)}${sent === undefined ? '' : ` (${redact(sent, hidden)})`}`,
    answer: answerOf(fault.evidence, hidden),
  }
}

/** The status, and the answer from its beginning, or the part of it that shows the fault. */
function answerOf({ status, text, part }: Fault['evidence'], hidden: readonly string[]): string {
  if (status === undefined) return 'none'
  if (part === undefined) return `${status} ${redact(text ?? '', hidden)}`.trim()
  return `${status} … ${redact(JSON.stringify(part), hidden)}`
}
