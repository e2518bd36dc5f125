import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { systemRandom } from '@bursar/base'
import { customerScopes, operatorScopes } from '@bursar/contract'
import { createSampleClient } from '@bursar/oauth'
import {
  orderFaults,
  orderOf,
  type SeenWrite,
  versionOfAnswer,
} from '../../../../test/support/change-order.ts'
import { fetchToken, startTestService, type TestService } from '../../../../test/support/harness.ts'
import { isLong } from '../../../../test/support/long.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { take } from '../../../../test/support/record-store.ts'
import { aFiatAccount, anId, anIssuerQuote } from '../../../../test/support/records.ts'
import { until } from '../../../../test/support/until.ts'
import { seeded } from './model.ts'

/** Answers that are recorded, and reproduced afterwards. */
const ANSWERS = isLong ? 100_000 : 500
/** Reading goes on until the answers are of so many instants: the writers may begin late. */
const INSTANTS = ANSWERS / 50 + 1
const READERS = 6
/** Between two changes of a writer. */
/** A long run outlives a token of the usual length. */
const env = { BURSAR_TOKEN_LIFE_SECONDS: '3600' }
const RECORDS = 60

const lists = [
  {
    kind: 'fiat-accounts',
    path: '/v2/transfer/fiat-accounts',
    statuses: ['PENDING', 'APPROVED', 'REJECTED'],
    filters: ['', 'include_deleted=true', `ids=${anId(3)}&ids=${anId(4)}`, 'ref_ids=r1&ref_ids=r2'],
    make: aFiatAccount,
  },
  {
    kind: 'issuer-quote-executions',
    path: '/v2/issuer-quotes',
    statuses: ['PENDING', 'COMPLETE', 'FAILED'],
    filters: ['', 'status=PENDING', 'status=FAILED&status=COMPLETE', 'profile_id=p1', 'ref_ids=r3'],
    make: anIssuerQuote,
  },
] as const

const customers = ['past-1', 'past-2', 'past-3', 'past-4']

type Recorded = {
  readonly customerId: string
  readonly kind: string
  readonly query: string
  readonly at: string
  readonly digest: string
}

/** Each cursor is sealed anew, so it is left out of the comparison. */
const digestOf = (text: string): string =>
  hash('sha1', text.replace(/,"next_page_cursor":"[^"]*"/, ',next'))

const random = seeded(20_261_122)

/** A few names and states for each record, so that values go and come back. */
function aChange(list: (typeof lists)[number], customerId: string) {
  const at = random.below(RECORDS)
  const index =
    customers.indexOf(customerId) * 1000 + (list.kind === 'fiat-accounts' ? 0 : 500) + at
  return list.make({
    id: anId(index),
    customer_id: customerId,
    status: random.pick(list.statuses),
    // A name belongs to one record at a time, so it is of the record's own.
    ...(at < 5 && random.chance(60) && { ref_id: `r${at}` }),
    ...(list.kind === 'issuer-quote-executions' && { profile_id: `p${random.below(3)}` }),
    ...(list.kind === 'fiat-accounts' &&
      random.chance(20) && { deleted_at: random.chance(50) ? '2026-06-01T00:00:00Z' : null }),
    created_at: `2026-01-${String(1 + (at % 28)).padStart(2, '0')}T00:00:00Z`,
  })
}

/** Which of two moments of the test came first. */
let moments = 0
const nextMoment = (): number => ++moments

/** Writes until it is stopped, and returns what each single write has stored. */
async function changeUntil(
  service: TestService,
  operator: string,
  ends: { now: boolean },
  answers: () => number,
) {
  const seen: SeenWrite[] = []
  const distinct = (records: readonly { readonly id?: unknown }[]) => [
    ...new Map(records.map((record) => [record.id, record])).values(),
  ]
  const some = (list: (typeof lists)[number], customerId: string) =>
    distinct(Array.from({ length: 1 + random.below(15) }, () => aChange(list, customerId)))
  const send = async (method: string, path: string, body: string) => {
    for (;;) {
      const sentAt = nextMoment()
      const answer = await service.call(path, { token: operator, method, body })
      // A write that has waited too long for a merge has changed nothing, and is sent again.
      if (answer.status === 503) continue
      assert.ok(answer.status < 300, answer.text)
      return { answer, sentAt, answeredAt: nextMoment() }
    }
  }
  const writer = async (way: 'put' | 'post' | 'import') => {
    while (!ends.now) {
      const [list, customerId] = [random.pick(lists), random.pick(customers)]
      const path = `/ingest/v1/${list.kind}`
      if (way === 'put') {
        const record = aChange(list, customerId)
        const { answer, ...times } = await send(
          'PUT',
          `${path}/${record.id}`,
          JSON.stringify(record),
        )
        if (answer.body.outcome === 'unchanged') continue
        const id = String(record.id).replaceAll('-', '')
        seen.push({ customerId, kind: list.kind, id, version: versionOfAnswer(answer), ...times })
      } else if (way === 'post') {
        const lines = some(list, customerId).map((record) => `${JSON.stringify(record)}\n`)
        await send('POST', path, lines.join(''))
      } else {
        // Two customers each, so imports overlap in some of their customers.
        const both = [customerId, random.pick(customers)]
        const records = distinct(both.flatMap((customer) => some(list, customer)))
        const report = await take(service.parts.store, list.kind, records)
        assert.deepEqual(report.faults, [])
      }
      // Each commit waits for the disk, and on the embedded store the readers wait with it.
      const answered = answers()
      await until(() => ends.now || answers() > answered)
    }
  }
  const ways = ['put', 'put', 'put', 'post', 'post', 'import', 'import'] as const
  await Promise.all(ways.map(writer))
  return seen
}

test('answers are reproduced byte for byte from their request and their instant', async () => {
  const service = await startTestService({ env })
  try {
    const operator = await operatorToken(service, 'core', operatorScopes)
    const tokens = new Map<string, string>()
    const { credentials: store, keyring, clock, oauth } = service.parts
    for (const customerId of customers) {
      const sample = { id: `${customerId}_client`, secret: `${customerId}_secret`, customerId }
      await createSampleClient(
        { store, keyring, clock, random: systemRandom },
        { ...sample, name: customerId, scopes: customerScopes },
      )
      await oauth.refresh()
      const { id: clientId, secret: clientSecret } = sample
      tokens.set(customerId, await fetchToken(service.url, { customerId, clientId, clientSecret }))
    }
    const beforeAll = new Date(Number(clock() / 1000n)).toISOString()
    const recorded: Recorded[] = []
    const instants = new Set<string>()
    const isBounded = () => recorded.length < 10 * ANSWERS
    const reader = async () => {
      while (recorded.length < ANSWERS || (instants.size < INSTANTS && isBounded())) {
        const [list, customerId] = [random.pick(lists), random.pick(customers)]
        const order = random.pick(['ASC', 'DESC'])
        const filter = random.pick(list.filters)
        const query = [filter, `order=${order}`, `limit=${random.pick([3, 20, 100])}`]
          .filter((part) => part !== '')
          .join('&')
        const token = tokens.get(customerId) ?? ''
        const { status, text, headers } = await service.call(`${list.path}?${query}`, { token })
        assert.equal(status, 200, text)
        const at = headers.get('as-of')
        // Before its first record a customer's list has no instant.
        if (at === null) continue
        recorded.push({ customerId, kind: list.kind, query, at, digest: digestOf(text) })
        instants.add(at)
      }
    }
    const ends = { now: false }
    const changing = changeUntil(service, operator, ends, () => recorded.length)
    await Promise.all(Array.from({ length: READERS }, reader))
    ends.now = true
    const seen = await changing
    let differing = 0
    const queue = recorded.entries()
    const check = async () => {
      for (const [, { customerId, kind, query, at, digest }] of queue) {
        const path = `/ingest/v1/customers/${customerId}/${kind}?${query}&as_of=${at}`
        const { text } = await service.call(path, { token: operator })
        if (digestOf(text) !== digest) differing += 1
      }
    }
    await Promise.all(Array.from({ length: READERS }, check))
    assert.equal(differing, 0)
    assert.ok(seen.length > 0)
    assert.deepEqual(orderFaults(await orderOf(service), seen), [])
    // A customer that has never had a record of a kind has none of it at any time.
    const known = new Set(recorded.map(({ customerId, kind }) => `${customerId}/${kind}`))
    for (const list of known) {
      const path = `/ingest/v1/customers/${list}?as_of=${beforeAll}`
      const { status, text } = await service.call(path, { token: operator })
      assert.equal(status, 410, text)
    }
    assert.ok(recorded.length >= ANSWERS)
    assert.ok(instants.size >= INSTANTS, `${instants.size} instants`)
  } finally {
    await service.stop()
  }
})
