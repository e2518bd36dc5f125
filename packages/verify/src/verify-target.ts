import { randomUUID } from 'node:crypto'
import { systemTime } from '@bursar/base'
import { type Context, checkStatement, type Result, subjectsOf } from './check-statement.ts'
import { basicOf, type Credentials, openTokens } from './client/client-tokens.ts'
import { type Exchange, type Fetch, openSend, type Send } from './client/exchange.ts'
import { openSession } from './client/open-session.ts'
import { present, textOf } from './json.ts'
import { redact } from './redact.ts'
import { allStatements } from './statements/all-statements.ts'
import { NoAnswer, need } from './verdicts.ts'
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
  /** Sends the requests; the global `fetch` by default. */
  readonly fetch?: Fetch
  /** Makes an id that no record has; `randomUUID` by default. */
  readonly newId?: () => string
}

/**
 * Checks every statement against a running server. Throws `Unreachable` if there is no connection
 * or no token.
 */
export async function verifyTarget(options: VerifyOptions): Promise<readonly Result[]> {
  using deadline = systemTime.deadline(verifyLimits.runMs)
  const run = deadline.signal
  const { target, tokenUrl, client, otherClient, customer, allowFees } = options
  const hidden = new Set(secretsOf([client, otherClient].filter(present)))
  const { fetch = globalThis.fetch, newId = randomUUID } = options
  const { observed, observe } = openObserved()
  const plainSend = openSend({ fetch, run, observe })
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
  const redacted = (text: string) => redact(text, [...hidden])
  const results: Result[] = []
  for (const statement of allStatements) {
    const isChosen = isChosenBy(options.only, statement.id)
    if (!isChosen && groupOf(statement.id) !== 'answers') continue
    const subjects = subjectsOf(statement)
      .filter(({ source }) => options.contractOnly !== true || source === 'contract')
      .map((subject) => (run.aborted ? { ...subject, run: refuseLate } : subject))
    if (subjects.length === 0) continue
    const result = await checkStatement(statement, context, subjects, redacted)
    if (!isChosen && result.verdict !== 'broken') continue
    results.push(result)
    options.report?.(result)
  }
  return results
}

const refuseLate = async () => need(false, 'the time for the run is over')

/** What the run sees, for the statements about all answers. */
function openObserved() {
  const failures: NoAnswer[] = []
  const refusals: Exchange[] = []
  const observed = { failures, refusals, requests: 0 }
  const observe = (seen: Exchange | NoAnswer) => {
    observed.requests += 1
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
