import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { operatorScopes, type RecordInput, type RecordKind, recordKinds } from '@bursar/contract'
import { importEntries } from '@bursar/intake'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis, type Called } from '../../../../test/support/harness.ts'
import {
  gets,
  lists,
  type Pairs,
  pathOf,
  withQuery,
} from '../../../../test/support/operation-calls.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { itemsOf, readAllPages } from '../../../../test/support/read-all-pages.ts'
import { resourceOf, rules } from '../../../../test/support/record-store.ts'
import type { Filter, ListOperation } from '../../../contract/src/operation.ts'
import { encodeAddress } from '../../../sandbox/src/encode-address.ts'
import { worldRecords } from '../../../sandbox/src/sample-records.ts'

const service = describeService()

const world: Readonly<Record<string, readonly RecordInput[]>> = worldRecords()

const recordsOf = (kind: string, customer: string): readonly RecordInput[] =>
  world[kind]?.filter((record) => record.customer_id === customer) ?? []

/** A value that no record has, of the same length and the same kinds of characters. */
const unknownLike = (value: string): string =>
  value.replaceAll(/[a-z0-9]/gi, (character) => {
    if (/[0-9]/.test(character)) return String((Number(character) + 1) % 10)
    const hex = 'abcdefABCDEF'
    if (hex.includes(character)) return 'bcdefaBCDEFA'[hex.indexOf(character)] ?? ''
    return character === character.toUpperCase() ? 'Q' : 'q'
  })

/**
 * Everything in an answer that could disclose something, with the given value replaced. The tag of
 * a page depends on the request; a test below shows that it depends on no foreign record.
 */
function disclosed(called: Called, given: string): unknown {
  const headers = Object.fromEntries(
    [...called.headers].filter(([name]) => !['date', 'x-request-id', 'etag'].includes(name)),
  )
  const text = called.text
    .replaceAll(given.toLowerCase(), '<given>')
    .replaceAll(given, '<given>')
    .replace(/"request_id":"[^"]+"/, '"request_id":"<id>"')
  return { status: called.status, headers, text }
}

async function assertSameAnswer(
  foreign: string,
  pathFor: (value: string) => string,
): Promise<void> {
  const unknown = unknownLike(foreign)
  assert.notEqual(unknown, foreign)
  const actual = disclosed(await service.call(pathFor(foreign)), foreign)
  const expected = disclosed(await service.call(pathFor(unknown)), unknown)
  assert.deepEqual(actual, expected, foreign)
}

/** The member of a record that a filter compares. */
function memberOf(list: ListOperation, filter: Filter): string | undefined {
  if (filter.kind !== 'anyOf') return undefined
  const columns: Readonly<Record<string, string>> = {
    id: 'id',
    refId: 'ref_id',
    ...list.view.resource.columns,
  }
  const member = columns[filter.column]
  return member === 'status' || member === 'crypto_network' ? undefined : member
}

for (const get of gets) {
  describe(get.id, () => {
    const foreign = recordsOf(get.view.resource.kind, 'borealis').map(({ id }) => String(id))

    test('answers a foreign id exactly as an unknown one', async () => {
      for (const id of foreign.slice(0, 12)) {
        await assertSameAnswer(id, (value) => get.path.replace(':id', value))
        await assertSameAnswer(id.toUpperCase(), (value) => get.path.replace(':id', value))
      }
    })

    test('answers a deleted foreign id exactly as an unknown one, with and without include_deleted', async () => {
      for (const id of foreign.slice(-3)) {
        for (const shown of ['true', 'false']) {
          await assertSameAnswer(id, (value) =>
            withQuery(get.path.replace(':id', value), [['include_deleted', shown]]),
          )
        }
      }
    })

    test('ignores customers named in the query or in headers', async () => {
      const path = withQuery(get.path.replace(':id', foreign[0] ?? ''), [
        ['customer_id', 'borealis'],
        ['tenant', 'borealis'],
      ])
      const headers = { 'x-customer-id': 'borealis', 'x-tenant': 'borealis', customer: 'borealis' }
      const called = await service.call(path, { headers })
      assert.equal(called.status, 404)
      assert.equal((await service.call(path, { as: borealis })).status, 200)
    })
  })
}

for (const list of lists) {
  describe(list.id, () => {
    const { kind } = list.view.resource
    const foreign = recordsOf(kind, 'borealis')

    for (const [name, filter] of Object.entries(list.filter)) {
      const member = memberOf(list, filter)
      if (member === undefined) continue
      test(`answers a foreign value of ${name} exactly as an unknown one`, async () => {
        const values = foreign.flatMap((record) => {
          const value = record[member]
          return typeof value === 'string' ? [value] : []
        })
        assert.ok(values.length > 0, 'Borealis has no such value in the sandbox')
        for (const value of new Set(values.slice(0, 5))) {
          await assertSameAnswer(value, (asked) => pathOf(list, [[name, asked]]))
          await assertSameAnswer(value, (asked) =>
            pathOf(list, [
              [name, asked],
              ['order', 'ASC'],
              ['limit', '1'],
              ['include_deleted', 'true'],
            ]),
          )
        }
      })

      test(`adds nothing to the page for a foreign value of ${name} beside an own one`, async () => {
        const own = recordsOf(kind, 'acme').find((record) => typeof record[member] === 'string')
        const other = foreign.find((record) => typeof record[member] === 'string')
        const alone: Pairs = [[name, String(own?.[member])]]
        const both: Pairs = [...alone, [name, String(other?.[member])]]
        if ('each' in (list.query[name] ?? {})) {
          const called = await service.call(pathOf(list, both))
          assert.deepEqual(
            itemsOf(list, called),
            itemsOf(list, await service.call(pathOf(list, alone))),
          )
        }
      })
    }

    test('answers each customer its own records and no others', async () => {
      const withDeleted: Pairs = [['include_deleted', 'true']]
      for (const customer of [acme, borealis]) {
        const { items } = await readAllPages(service, list, withDeleted, { as: customer })
        const own = recordsOf(kind, customer.customerId).map(({ id }) => id)
        assert.deepEqual(items.map(({ id }) => id).toSorted(), own.toSorted())
      }
    })

    test('answers a foreign cursor exactly as a forged one', async () => {
      const page = await service.call(pathOf(list, [['limit', '1']], 'borealis'), { as: borealis })
      const cursor: string = page.body.next_page_cursor
      const never = Buffer.from(cursor, 'base64url').map((byte, at) => (at < 30 ? byte : byte ^ 1))
      const garbled = Buffer.from(never).toString('base64url')
      assert.equal(garbled.length, cursor.length)
      const asked = async (value: string) =>
        disclosed(await service.call(pathOf(list, [['page_cursor', value]])), value)
      assert.deepEqual(await asked(cursor), await asked(garbled))
    })
  })
}

describe('listStatements', () => {
  const list = lists.find(({ id }) => id === 'listStatements')
  test('answers a foreign customer_id with the empty page of an unknown one', async () => {
    await assertSameAnswer('borealis', (value) => `/v2/statements?customer_id=${value}`)
    await assertSameAnswer(
      'borealis',
      (value) => `/v2/statements?customer_id=${value}&limit=1&order=ASC`,
    )
    const called = await service.call('/v2/statements?customer_id=borealis')
    assert.equal(called.status, 200)
    assert.equal(called.text, '{"statements":[]}')
  })

  test('compares customer_id exactly', async () => {
    for (const near of ['ACME', 'acme ', ' acme', 'acm', 'acme%', '*', 'аcme', 'acme\u200b']) {
      const called = await service.call(withQuery('/v2/statements', [['customer_id', near]]))
      assert.equal(called.text, '{"statements":[]}', near)
    }
  })

  test('refuses a foreign cursor together with the foreign customer_id', async () => {
    assert.ok(list !== undefined)
    const page = await service.call('/v2/statements?customer_id=borealis&limit=1', { as: borealis })
    const path = withQuery('/v2/statements', [
      ['customer_id', 'borealis'],
      ['limit', '1'],
      ['page_cursor', page.body.next_page_cursor],
    ])
    assert.equal((await service.call(path)).status, 400)
    assert.equal((await service.call(path, { as: borealis })).status, 200)
  })
})

describe('tokens', () => {
  const post = async (path: string, token: string) =>
    service.call(path, {
      as: null,
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${acme.clientId}:${acme.clientSecret}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token }).toString(),
    })

  test('can be introspected and revoked by their own customer only', async () => {
    const foreign = await service.tokenOf(borealis, 'statements:read_statement')
    const unknown = `${foreign.slice(0, -8)}AAAAAAAA`
    for (const path of ['/oauth2/introspect', '/oauth2/revoke']) {
      const actual = disclosed(await post(path, foreign), foreign)
      assert.deepEqual(actual, disclosed(await post(path, unknown), unknown))
    }
    const called = await service.call('/v2/statements?customer_id=borealis', { token: foreign })
    assert.equal(called.status, 200, 'Acme has revoked a token of Borealis')
  })
})

describe('a client of the operator that is bound to a customer', () => {
  let token: string
  before(async () => {
    token = await operatorToken(service, 'branch', operatorScopes, 'acme')
  })
  const put = (kind: string, record: RecordInput) =>
    service.call(`/ingest/v1/${kind}/${record.id}?allow_older=true`, {
      token,
      method: 'PUT',
      body: JSON.stringify(record),
    })
  const assertUnnamed = ({ status, body, text }: Called, member: string) => {
    assert.equal(status, 409, text)
    const [fault, ...others] = body.meta.errors
    assert.deepEqual([fault.code, fault.reason], ['not_storable', 'cannot be stored'])
    assert.ok(fault.member.includes(member), text)
    assert.deepEqual(others, [])
    assert.doesNotMatch(text, /borealis/i)
  }

  for (const kind of recordKinds) {
    test(`learns nothing of a foreign id of ${kind}`, async () => {
      const [foreign] = recordsOf(kind, 'borealis')
      const {
        ref_id: _ref,
        address: _address,
        memo_id: _memo,
        ...own
      } = recordsOf(kind, 'acme')[1] ?? {}
      const unique = uniqueMembersOf(kind)
      assertUnnamed(await put(kind, { ...own, ...unique, id: foreign?.id }), 'id')
    })
  }

  test('learns nothing of a foreign memo or address', async () => {
    const clashes: readonly (readonly [RecordKind, string])[] = [
      ['fiat-deposit-instructions', 'memo_id'],
      ['deposit-addresses', 'address'],
    ]
    for (const [kind, member] of clashes) {
      const [foreign] = recordsOf(kind, 'borealis')
      const record = {
        ...foreign,
        id: 'eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee',
        ref_id: 'a-ref-of-its-own',
        customer_id: 'acme',
      }
      assertUnnamed(await put(kind, record), member)
    }
  })
})

/** Values that no stored record has, of the members that are unique over all customers. */
function uniqueMembersOf(kind: string): object {
  if (kind === 'fiat-deposit-instructions') return { memo_id: 'A1B2C3D4E5F6G7H8' }
  const payload = new Uint8Array(32).fill(7)
  return kind === 'deposit-addresses'
    ? {
        crypto_network: 'SOLANA',
        compatible_crypto_networks: ['SOLANA'],
        address: encodeAddress('SOLANA', payload),
      }
    : {}
}

const importRecord = (kind: string, record: RecordInput) =>
  importEntries(
    service.parts.store,
    resourceOf(kind),
    (async function* () {
      yield { line: 1, value: record }
    })(),
    { dryRun: false, allowOlder: true, rules },
  )

describe('the tag of a page', () => {
  for (const list of lists) {
    test(`of ${list.id} changes with own records and not with foreign ones`, async () => {
      const { kind } = list.view.resource
      const id = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd'
      const name = 'statement_ids' in list.query ? 'statement_ids' : 'ids'
      const paths = [pathOf(list), pathOf(list, [[name, id]]), pathOf(list, [['order', 'ASC']])]
      const tags = async () =>
        Promise.all(paths.map(async (path) => (await service.call(path)).headers.get('etag')))
      const before = await tags()

      const [foreign] = recordsOf(kind, 'borealis')
      const { address: _, ...rest } = foreign ?? {}
      const fresh = {
        ...rest,
        id,
        ref_id: 'a-new-one',
        ...(kind === 'fiat-deposit-instructions' && { memo_id: 'NEWMEMO000000001' }),
        ...(kind === 'deposit-addresses' && {
          crypto_network: 'ETHEREUM',
          compatible_crypto_networks: ['ETHEREUM'],
          address: '0x00000000000000000000b0b0b0b0b0b0b0b0b0b0',
        }),
      }
      assert.deepEqual((await importRecord(kind, fresh)).faults, [])
      assert.deepEqual(await tags(), before)

      const own = recordsOf(kind, 'acme')[0]
      assert.deepEqual((await importRecord(kind, { ...own, ref_id: `${kind}-renamed` })).faults, [])
      const after = await tags()
      assert.notEqual(after[0], before[0])
    })
  }
})
