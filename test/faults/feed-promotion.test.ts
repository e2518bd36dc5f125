import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { operatorScopes } from '@bursar/contract'
import { readOrder } from '../support/change-order.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { askServer } from './support/ask-server.ts'
import { send } from './support/client.ts'
import { openCluster, tokenOf, untilTokens } from './support/cluster.ts'
import { follow, shownEvent, versionsOf } from './support/followers.ts'
import { customers } from './support/ledger.ts'
import { promote } from './support/promote.ts'

const WRITERS = 6
/** A minute and more of refusals. */
const TRIES_MAX = 3000

test('followers miss nothing and see nothing twice when a synchronous standby is promoted', async (t) => {
  const cluster = await openCluster()
  // Else a test that fails would ask the stopped servers for ever.
  let isOver = false
  t.after(() => {
    isOver = true
    return cluster.close()
  })
  for (const node of [cluster.primary, ...cluster.standbys]) {
    await askServer(node, "alter system set synchronous_standby_names = 'ANY 1 (one, two)'")
    await askServer(node, 'select pg_reload_conf()')
  }
  await cluster.addClient('core', null, operatorScopes)
  const operator = await tokenOf(cluster.urls[0] ?? '', 'core')
  let turn = 0
  const ask = async (path: string, token: string, sent = {}) => {
    let last: unknown
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      assert.ok(!isOver, 'the test is over')
      turn += 1
      const url = cluster.urls[turn % cluster.urls.length] ?? ''
      const answer = await send(url, path, { token, ...sent })
      if (answer.kind === 'answered' && answer.status !== 503) return answer
      last = answer
      await passing(20)
    }
    return assert.fail(`${path} is not answered: ${JSON.stringify(last)}`)
  }
  const followers = customers.map((customer) => ({
    customer,
    ...follow(ask, '/v2/events?wait=2&', cluster.tokens.get(customer) ?? ''),
  }))
  const ofAll = follow(ask, '/ingest/v1/changes?', operator)
  const ends = { now: false }
  const write = async (writer: number) => {
    const id = anId(900_000 + writer)
    for (let round = 0; !ends.now; round += 1) {
      const customer = customers[writer % customers.length]
      const metadata = { round: String(round) }
      const record = aFiatAccount({ id, customer_id: customer, metadata })
      const body = JSON.stringify({ ...record, id: undefined })
      const { status, text } = await ask(`/ingest/v1/fiat-accounts/${id}`, operator, {
        method: 'PUT',
        body,
      })
      assert.ok(status < 300, text)
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, at) => write(at)))
  /** Fails as soon as a writer does. */
  const whileWriting = (what: string, holds: () => boolean) =>
    Promise.race([untilHolds(what, holds), writing])
  const seen = () => followers.reduce((sum, follower) => sum + follower.seen.length, 0)
  await whileWriting('much is seen', () => seen() > 400)
  await cluster.primary.kill('SIGKILL')
  const primary = await promote(cluster.standbys)
  await untilTokens(cluster.urls)
  const before = seen()
  await whileWriting('followers go on', () => seen() > before + 400)
  ends.now = true
  await writing
  await Promise.all([...followers, ofAll].map(({ end }) => end()))
  const order = await readOrder((sql) => askServer(primary, sql), 'postgres')
  for (const follower of followers) {
    const { customer } = follower
    const expected = versionsOf(order, customer)
    assert.deepEqual(follower.seen.map(shownEvent), expected, customer)
    const inAll = ofAll.seen.filter(({ customer_id: one }) => one === customer)
    assert.deepEqual(inAll.map(shownEvent), expected, `${customer} in all`)
  }
  t.diagnostic(`${seen()} versions seen once and in order, ${before} of them before the promotion`)
})
