import { limits } from '../platform/limits.ts'
import { catalogue } from './catalogue.ts'
import { openSend, type Send } from './exchange.ts'
import { present, textOf } from './json.ts'
import { redact } from './redact.ts'
import { openSession } from './session.ts'
import { type Context, type Fault, type Finding, findingOf } from './statement.ts'
import { basicOf, type Credentials, openTokens } from './tokens.ts'

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
  /** Takes each result as it is found. */
  readonly report?: (result: Result) => void
  readonly requestTimeoutMs?: number
}

/** A finding without secrets, tokens and account numbers. */
export type Result = {
  readonly id: string
  readonly verdict: Finding['verdict']
  readonly says: string
  readonly source: 'contract' | 'bursar'
  readonly notes: readonly string[]
  readonly faults: readonly ReportedFault[]
}

type ReportedFault = {
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
  const run = AbortSignal.timeout(limits.verifyRunMs)
  const hidden = new Set(secretsOf([client, otherClient].filter(present)))
  const plainSend = openSend(run, options.requestTimeoutMs ?? limits.verifyTimeoutMs)
  const send: Send = async (url, call) => {
    const exchange = await plainSend(url, call)
    const token = textOf(exchange.body, 'access_token')
    if (token !== undefined && token !== '') hidden.add(token)
    return exchange
  }
  const open = async (credentials: Credentials, named?: string) =>
    openSession({
      target,
      send,
      customer: named,
      tokens: await openTokens(send, tokenUrl, credentials),
    })
  const session = await open(client, customer)
  const other = otherClient && (await open(otherClient))
  const context: Context = { session, other, send, tokenUrl, client, allowFees }
  const results: Result[] = []
  for (const statement of catalogue.filter(({ id }) => isChosen(id, options.only))) {
    const finding: Finding = run.aborted
      ? { statement, verdict: 'not testable', faults: [], notes: ['the time for the run is over'] }
      : await findingOf(statement, context)
    const result = resultOf(finding, [...hidden])
    results.push(result)
    options.report?.(result)
  }
  return results
}

/** The secrets in every form in which a request carries them. */
const secretsOf = (clients: readonly Credentials[]): readonly string[] =>
  clients
    .flatMap((one) => [one.secret, encodeURIComponent(one.secret), basicOf(one).slice(6)])
    .filter((secret) => secret !== '')

/** Whether a word is a statement's id or its group, such as `paging`. */
export const isWordOf = (word: string, id: string): boolean =>
  id === word || id.startsWith(`${word}.`)

const isChosen = (id: string, only: readonly string[] | undefined): boolean =>
  only === undefined || only.some((word) => isWordOf(word, id))

function resultOf({ statement, verdict, faults, notes }: Finding, hidden: readonly string[]) {
  const { id, says, source } = statement
  const reported = (fault: Fault) => reportedOf(fault, hidden)
  return {
    id,
    verdict,
    says,
    source,
    notes: notes.map((note) => redact(note, hidden)),
    faults: faults.map(reported),
  }
}

function reportedOf({ list, says, evidence }: Fault, hidden: readonly string[]): ReportedFault {
  const { request, status, text } = evidence
  return {
    ...(list !== undefined && { list }),
    says: redact(says, hidden),
    request: redact(request, hidden),
    answer: status === undefined ? 'none' : `${status} ${redact(text ?? '', hidden)}`.trim(),
  }
}
