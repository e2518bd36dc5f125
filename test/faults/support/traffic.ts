import assert from 'node:assert/strict'
import { untilHolds } from '../../support/until.ts'
import { type Answer, send } from './client.ts'
import type { History } from './history.ts'
import { type Customer, customers, fullOf, idOf, isLive, pageOf, placeCount } from './ledger.ts'

/** Clients of every customer that read continuously and check every body. */
export type Traffic = {
  /** How many requests can be in flight at a time. */
  readonly inFlightMax: number
  /** Counts since a time. */
  since(startedAt: number): Tally
  /** Waits until so many more reads are answered. Rejects if an answer was wrong. */
  untilAnswered(count: number): Promise<void>
  /** Uses a server again that was skipped after a cut. */
  isBack(url: string): void
  /** Stops the clients. Rejects if any answer was wrong. */
  stop(): Promise<Tally>
}

export type Tally = {
  readonly answered: number
  /** Answered 503, with Retry-After. */
  readonly refused: number
  /** Connections that failed. */
  readonly cut: number
  readonly walks: number
  /** How long each request took. */
  readonly times: readonly number[]
  /** For how long the oldest answer had been replaced when it was requested. */
  readonly staleMs: number
}

export type TrafficOptions = {
  readonly urls: readonly string[]
  readonly tokens: ReadonlyMap<Customer, string>
  readonly history: History
  readonly running: Set<() => Promise<unknown>>
  /** The pause between two requests of a client, which leaves time for the servers. */
  readonly restMs?: number
  /** Whether a fault explains an answer. Such an answer counts as cut and is not checked. */
  readonly isExplained?: (answer: Answer) => boolean
}

type Event = {
  readonly at: number
  readonly outcome: keyof typeof outcomes
  readonly ms: number
  readonly staleMs: number
}

const outcomes = { answered: 0, refused: 0, cut: 0, walks: 0 }

export function startTraffic({
  urls,
  tokens,
  history,
  running,
  restMs = 3,
  isExplained = () => false,
}: TrafficOptions): Traffic {
  const events: Event[] = []
  const wrong: unknown[] = []
  const down = new Set<string>()
  let stopped = false
  let turn = 0
  let answered = 0
  /** Round robin over the servers that are not known to be down. */
  const nextUrl = (): string => {
    const up = urls.filter((url) => !down.has(url))
    turn += 1
    return up[turn % up.length] ?? urls[0] ?? ''
  }
  const ask: Ask = async (customer, path) => {
    const url = nextUrl()
    const startedAt = performance.now()
    const sent = await send(url, path, { token: tokens.get(customer) })
    const answer = isExplained(sent) ? explained(sent) : sent
    const endedAt = performance.now()
    if (answer.kind === 'cut') down.add(url)
    const outcome =
      answer.kind === 'cut' ? 'cut' : answer.status === 503 ? 'refused' : ('answered' as const)
    if (outcome === 'answered') answered += 1
    const shown = generationOf(answer)
    const staleMs = shown === undefined ? 0 : history.staleMs(customer, shown, startedAt)
    events.push({ at: endedAt, outcome, ms: answer.ms, staleMs })
    if (answer.kind === 'answered' && answer.status === 503) assertUnavailable(answer)
    await new Promise((resolve) => setTimeout(resolve, restMs))
    return { answer, legal: history.legal(customer, startedAt, endedAt) }
  }
  const client = async (round: () => Promise<boolean>) => {
    while (!stopped && wrong.length === 0) {
      if (await round()) events.push(walkEnded())
    }
  }
  const clients = customers.flatMap((customer) =>
    [
      () => walkOnce(ask, customer, () => stopped),
      () => getOne(ask, customer),
      () => askForForeign(ask, customer),
    ].map((round) => client(round).catch((error: unknown) => wrong.push(error))),
  )
  const stop = async () => {
    stopped = true
    await Promise.all(clients)
    if (wrong.length > 0) throw wrong[0]
    return tallyOf(events)
  }
  running.add(stop)
  return {
    inFlightMax: clients.length,
    untilAnswered: (count) => {
      const before = answered
      return untilHolds(`${count} more reads are answered`, () => {
        if (wrong.length > 0) throw wrong[0]
        return answered >= before + count
      })
    },
    since: (startedAt) => tallyOf(events.filter(({ at }) => at >= startedAt)),
    isBack: (url) => down.delete(url),
    stop,
  }
}

const walkEnded = (): Event => ({ at: performance.now(), outcome: 'walks', ms: 0, staleMs: 0 })

const explained = ({ ms }: Answer): Answer => ({ kind: 'cut', code: 'explained', ms })

function tallyOf(events: readonly Event[]): Tally {
  const counts = { ...outcomes }
  for (const { outcome } of events) counts[outcome] += 1
  return {
    ...counts,
    times: events.filter(({ outcome }) => outcome !== 'walks').map(({ ms }) => ms),
    staleMs: events.reduce((most, { staleMs }) => Math.max(most, staleMs), 0),
  }
}

type Ask = (
  customer: Customer,
  path: string,
) => Promise<{ readonly answer: Answer; readonly legal: readonly number[] }>

const LIMIT = 7

type Body = {
  readonly items?: readonly { readonly metadata: { readonly generation: string } }[]
  readonly next_page_cursor?: string
  readonly metadata?: { readonly generation: string }
}

/** The generation that a body shows. A problem, and a page without items, show none. */
function generationOf(answer: Answer): number | undefined {
  if (answer.kind === 'cut' || answer.status !== 200) return undefined
  const { items, metadata }: Body = JSON.parse(answer.text)
  const shown = (metadata ?? items?.[0]?.metadata)?.generation
  return shown === undefined ? undefined : Number(shown)
}

/**
 * Reads a list page by page, each from another server. Every page must be exactly the next page of
 * one generation, and the generation must never decrease. A refused page is requested again with
 * the same cursor. Returns whether the last page was reached.
 */
async function walkOnce(ask: Ask, customer: Customer, isOver: () => boolean): Promise<boolean> {
  const seen = new Set<number>()
  let last: number | undefined
  let reached = 0
  let cursor = ''
  for (;;) {
    if (isOver()) return false
    const path = `/v2/transfer/fiat-accounts?limit=${LIMIT}&page_cursor=${cursor}`
    const { answer, legal } = await ask(customer, path)
    if (answer.kind === 'cut' || answer.status === 503) continue
    assert.equal(answer.status, 200, answer.text)
    const body: Body = JSON.parse(answer.text)
    const shown = body.items?.[0]?.metadata.generation
    // An empty page does not show its generation. Some legal generation must end here.
    const isEmpty = (one: number) => pageOf(customer, one, last, LIMIT).items.length === 0
    const generation =
      shown === undefined
        ? (legal.find((one) => one >= reached && isEmpty(one)) ?? reached)
        : Number(shown)
    const page = pageOf(customer, generation, last, LIMIT)
    const expected = page.more
      ? { items: page.items, next_page_cursor: body.next_page_cursor ?? 'missing' }
      : { items: page.items }
    assert.deepEqual(body, expected, `a page of ${customer} in generation ${generation}`)
    assert.ok(legal.includes(generation), `${customer}: ${generation} is not of ${legal}`)
    assert.ok(generation >= reached, `a walk of ${customer} went from ${reached} to ${generation}`)
    for (const place of page.places) {
      assert.ok(!seen.has(place), `place ${place} of ${customer} appears twice in a walk`)
      seen.add(place)
    }
    if (shown !== undefined) reached = generation
    last = page.places.at(-1) ?? last
    if (body.next_page_cursor === undefined) return true
    cursor = body.next_page_cursor
  }
}

async function getOne(ask: Ask, customer: Customer): Promise<boolean> {
  const place = Math.floor(Math.random() * placeCount)
  const path = `/v2/transfer/fiat-accounts/${idOf(customer, place)}`
  const { answer, legal } = await ask(customer, path)
  if (answer.kind === 'cut' || answer.status === 503) return false
  if (answer.status === 404) {
    assertUnknown(answer, path)
    assert.ok(
      legal.some((generation) => !isLive(place, generation)),
      `place ${place} of ${customer} is missing in ${legal}`,
    )
    return false
  }
  assert.equal(answer.status, 200, answer.text)
  const body: Body = JSON.parse(answer.text)
  const generation = Number(body.metadata?.generation)
  assert.deepEqual(body, fullOf(customer, place, generation))
  assert.ok(isLive(place, generation), `place ${place} of ${customer} is deleted in ${generation}`)
  assert.ok(legal.includes(generation), `${customer}: ${generation} is not of ${legal}`)
  return false
}

/** Requests another customer's id: a get must answer 404, a filter must find nothing. */
async function askForForeign(ask: Ask, customer: Customer): Promise<boolean> {
  const others = customers.filter((other) => other !== customer)
  const other = others[Math.floor(Math.random() * others.length)] ?? 'ash'
  const id = idOf(other, Math.floor(Math.random() * placeCount))
  const path = `/v2/transfer/fiat-accounts/${id}`
  const { answer } = await ask(customer, path)
  if (answer.kind === 'answered' && answer.status !== 503) assertUnknown(answer, path)
  const { answer: listed } = await ask(customer, `/v2/transfer/fiat-accounts?ids=${id}`)
  if (listed.kind === 'answered' && listed.status !== 503) {
    assert.deepEqual([listed.status, listed.text], [200, '{"items":[]}'])
  }
  return false
}

type Answered = Extract<Answer, { kind: 'answered' }>

function assertUnknown({ status, text }: Answered, path: string): void {
  const { request_id: _, ...body } = JSON.parse(text)
  const id = path.split('/').at(-1)
  assert.deepEqual([status, body], [404, problem(404, 'Not Found', path, unknownAccount(id))])
}

const unknownAccount = (id: string | undefined) => `no fiat account found for id: '${id}'`

const problem = (status: number, title: string, instance: string, detail: string) => ({
  type: 'about:blank',
  title,
  status,
  detail,
  instance,
})

/** A 503 has Retry-After and holds no data of a record. */
export function assertUnavailable({ status, headers, text }: Answered): void {
  assert.equal(status, 503, text)
  assert.match(String(headers['retry-after']), /^[0-9]+$/)
  const { title, detail, ...body } = JSON.parse(text)
  assert.equal(title, 'Service Unavailable')
  assert.match(detail, /again shortly$/)
  assert.deepEqual(Object.keys(body).toSorted(), ['instance', 'request_id', 'status', 'type'])
}
