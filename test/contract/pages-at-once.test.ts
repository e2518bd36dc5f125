import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { importEntries } from '../../src/intake/files/import-file.ts'
import { describeService } from '../support/describe-service.ts'
import { acme, borealis } from '../support/harness.ts'
import { entriesOf, resourceOf, rules } from '../support/record-store.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { testStore } from '../support/test-database.ts'

/**
 * Pages that are requested at the same time share statements and send buffers. Each response must
 * equal the response to the same request alone.
 */

const ACCOUNTS = 600
const customers = [acme, borealis]
const queries = [
  'limit=100',
  'limit=100&order=ASC',
  'limit=7',
  'limit=250&order=DESC',
  'limit=1000',
]

const service = describeService({}, async () => {
  const accounts = Array.from({ length: ACCOUNTS }, (_, at) =>
    aFiatAccount({
      id: anId(1000 + at),
      customer_id: customers[at % 2]?.customerId ?? '',
      ref_id: `at-once-${at}`,
      created_at: new Date(1_700_000_000_000 + at * 1000).toISOString(),
      metadata: { label: `${at} `.repeat(20) },
    }),
  )
  const options = { dryRun: false, allowOlder: false, rules }
  const resource = resourceOf('fiat-accounts')
  const report = await importEntries(service.parts.store, resource, entriesOf(accounts), options)
  assert.equal(report.added, ACCOUNTS)
})

type Asked = { readonly as: typeof acme; readonly path: string }

/** The first and the second page of every query of both customers. */
async function pagesAlone(): Promise<{ asked: Asked; accounts: unknown[] }[]> {
  const pages: { asked: Asked; accounts: unknown[] }[] = []
  for (const as of customers) {
    for (const query of queries) {
      let path: string | undefined = `/v2/transfer/fiat-accounts?${query}`
      for (let depth = 0; depth < 2 && path !== undefined; depth += 1) {
        const { status, body } = await service.call(path, { as })
        assert.equal(status, 200)
        assert.ok(body.items.length > 0)
        pages.push({ asked: { as, path }, accounts: body.items })
        const next: string | undefined = body.next_page_cursor
        path = next && `/v2/transfer/fiat-accounts?${query}&page_cursor=${next}`
      }
    }
  }
  return pages
}

describe('pages that are requested at the same time', () => {
  test('are the same as when requested alone', async () => {
    const alone = await pagesAlone()
    assert.ok(alone.length > 12)
    for (let round = 0; round < 5; round += 1) {
      const together = await Promise.all(
        [...alone, ...alone, ...alone].map(async ({ asked, accounts }) => {
          const items = await itemsOf(asked)
          assert.deepEqual(items, accounts, asked.path)
          return items.length
        }),
      )
      assert.ok(together.every((count) => count > 0))
    }
  })

  test('are complete for a slow reader while others are served', async () => {
    const alone = await pagesAlone()
    const slow = await Promise.all(alone.map(({ asked }) => openUnread(asked)))
    const quick = alone.flatMap(({ asked }) => Array.from({ length: 10 }, () => asked))
    await Promise.all(quick.map(({ as, path }) => service.call(path, { as })))
    const read = await Promise.all(slow.map((unread) => unread.read()))
    for (const [at, page] of read.entries()) {
      assert.deepEqual(JSON.parse(page).items, alone[at]?.accounts, String(alone[at]?.asked.path))
    }
  })

  test('are complete when other clients disconnect halfway', async () => {
    const alone = await pagesAlone()
    for (const { asked } of alone) (await openUnread(asked)).hangUp()
    await Promise.all(
      alone.map(async ({ asked, accounts }) => {
        assert.deepEqual(await itemsOf(asked), accounts, asked.path)
      }),
    )
  })
})

const TRIES_MAX = 20

/**
 * Asks PostgreSQL again after a 503, as a client does: a database on a busy machine may take longer
 * than a request may wait. The embedded store answers each request.
 */
async function patiently<T>(ask: () => Promise<{ status: number; retryAfter: unknown; got: T }>) {
  for (let tries = 1; ; tries += 1) {
    const { status, retryAfter, got } = await ask()
    if (status === 200) return got
    const isBusy = testStore === 'postgres' && status === 503
    assert.ok(isBusy && tries < TRIES_MAX, `${status} after ${tries} tries`)
    assert.match(String(retryAfter), /^[1-9]\d*$/)
    await setTimeout(Number(retryAfter) * 1000)
  }
}

const itemsOf = ({ as, path }: Asked): Promise<unknown[]> =>
  patiently(async () => {
    const { status, headers, body } = await service.call(path, { as })
    return { status, retryAfter: headers.get('retry-after'), got: body.items }
  })

/** Resolves when the response has begun. Its body stays in the socket until `read` is called. */
const openUnread = ({ as, path }: Asked) =>
  patiently(async () => {
    const headers = { authorization: `Bearer ${await service.tokenOf(as)}` }
    const outgoing = request(`${service.url}${path}`, { agent: false, headers })
    outgoing.end()
    const [incoming]: IncomingMessage[] = await once(outgoing, 'response')
    assert.ok(incoming !== undefined)
    incoming.pause()
    const hangUp = () => outgoing.destroy()
    const { statusCode = 0 } = incoming
    if (statusCode !== 200) hangUp()
    const got = { read: () => text(incoming), hangUp }
    return { status: statusCode, retryAfter: incoming.headers['retry-after'], got }
  })
