import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeCustomerKey, systemRandom } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { anId } from '../../../test/support/records.ts'
import { keepKeys } from '../src/sealing/customer-keys.ts'
import { keepOpenedBodies } from '../src/sealing/opened-bodies.ts'

const key = makeCustomerKey('acme', systemRandom, { indexKey: 'index', indexing: Buffer.alloc(32) })
const stored = { customerId: 'acme', id: anId(1), body: `${key.id}.AAAA`, checksum: 7 }
const kind = 'fiat-accounts'

test('an opened body is found only for the same text, place and key', () => {
  const opened = keepOpenedBodies()
  opened.add(key, kind, stored, 'full')
  opened.add(key, kind, stored, 'full')
  assert.equal(opened.find(key, kind, { ...stored }), 'full')
  for (const over of [
    { customerId: 'globex' },
    { id: anId(2) },
    { body: `${key.id}.AAAB` },
    { checksum: 8 },
  ]) {
    assert.equal(opened.find(key, kind, { ...stored, ...over }), undefined)
  }
  assert.equal(opened.find(key, 'statements', stored), undefined)
  assert.equal(opened.find({ ...key }, kind, stored), undefined)
})

test('a body that another has taken the place of is opened again, and found after that', () => {
  const opened = keepOpenedBodies()
  const other = { ...stored, id: anId(2), checksum: stored.checksum + 16 * 1024 }
  for (const _ of ['once', 'again']) opened.add(key, kind, stored, 'full')
  opened.add(key, kind, other, 'other')
  assert.equal(opened.find(key, kind, stored), undefined)
  opened.add(key, kind, stored, 'full')
  assert.equal(opened.find(key, kind, stored), 'full')
  assert.equal(opened.find(key, kind, other), undefined)
})

test('opened bodies have a limit together', () => {
  const opened = keepOpenedBodies(1000)
  for (let at = 0; at < 50; at += 1) {
    const added = { ...stored, id: anId(at), checksum: at }
    for (const _ of ['once', 'again']) opened.add(key, kind, added, 'x'.repeat(80))
  }
  const found = Array.from({ length: 50 }, (_, at) => at).filter(
    (at) => opened.find(key, kind, { ...stored, id: anId(at), checksum: at }) !== undefined,
  )
  assert.ok(found.length > 3 && found.length <= 12, String(found))
  assert.ok(found.includes(49))
})

test('a body is kept once it is opened again, as long as few others were opened between', () => {
  const opened = keepOpenedBodies()
  const readInTurn = (count: number) => {
    let found = 0
    for (let turn = 0; turn < 3; turn += 1) {
      found = 0
      for (let at = 0; at < count; at += 1) {
        // Digests are spread over 52 bits.
        const body = { ...stored, id: anId(at), checksum: (at * 2_654_435_761) % 2 ** 52 }
        if (opened.find(key, kind, body) === undefined) opened.add(key, kind, body, 'full')
        else found += 1
      }
    }
    return found
  }
  assert.ok(readInTurn(1000) > 900)
  assert.ok(readInTurn(200_000) < 10_000)
})

test('keys that were being read when one was destroyed are read again', async () => {
  const keys = { current: key, byId: new Map([[key.id, key]]) }
  const asked: PromiseWithResolvers<typeof keys>[] = []
  const ask = () => {
    const answer = Promise.withResolvers<typeof keys>()
    asked.push(answer)
    return answer.promise
  }
  const none = () => Promise.reject(new Error('none'))
  const kept = keepKeys({ find: ask, ensure: ask, make: none, bindingOf: none })
  const first = kept.find(asTenant('acme'), false)
  kept.forgetAll()
  const second = kept.find(asTenant('acme'), false)
  asked[0]?.resolve(keys)
  await first
  assert.equal(kept.known('acme'), undefined)
  asked[1]?.resolve(keys)
  await second
  assert.equal(kept.known('acme'), keys)
  kept.forgetAll()
  assert.equal(kept.known('acme'), undefined)
})
