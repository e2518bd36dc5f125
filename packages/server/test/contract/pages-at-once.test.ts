import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { importEntries } from '@bursar/intake'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis } from '../../../../test/support/harness.ts'
import { entriesOf, resourceOf, rules } from '../../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'

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

const itemsOf = async ({ as, path }: Asked): Promise<unknown[]> => {
  const { status, body, text } = await service.call(path, { as })
  assert.equal(status, 200, text)
  return body.items
}

/** Resolves when the response has begun. Its body stays in the socket until `read` is called. */
async function openUnread({ as, path }: Asked) {
  const headers = { authorization: `Bearer ${await service.tokenOf(as)}` }
  const outgoing = request(`${service.url}${path}`, { agent: false, headers })
  outgoing.end()
  const [incoming]: IncomingMessage[] = await once(outgoing, 'response')
  assert.equal(incoming?.statusCode, 200)
  incoming?.pause()
  return { read: () => text(incoming as IncomingMessage), hangUp: () => outgoing.destroy() }
}
