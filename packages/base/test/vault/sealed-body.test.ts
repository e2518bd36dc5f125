import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  keyFingerprint,
  makeCustomerKey,
  unwrapCustomerKey,
  wrapCustomerKey,
} from '../../src/vault/customer-key.ts'
import { systemRandom } from '../../src/vault/random.ts'
import { type BodyPlace, digestOf, openBody, sealBody } from '../../src/vault/sealed-body.ts'

const indexing = Buffer.alloc(32)
const index = { indexKey: 'index', indexing }
const key = makeCustomerKey('acme', systemRandom, index)
const body = '{"id":"aaaaaaaa-0000-4000-8000-000000000001","number":"12345678"}'
const placeOf = (changed: Partial<BodyPlace> = {}): BodyPlace => {
  const place = { customerId: 'acme', kind: 'fiat-accounts', id: 'one', ...changed }
  return { digest: digestOf(key, place.kind, place.id, body), ...place }
}

test('a body opens where it was sealed, and the same body is sealed in another way each time', () => {
  const sealed = [1, 2].map(() => sealBody(key, placeOf(), body))
  assert.deepEqual(
    sealed.map((one) => openBody(key, placeOf(), one)),
    [body, body],
  )
  assert.notEqual(sealed[0], sealed[1])
  for (const one of sealed) assert.ok(!one.includes('12345678'))
})

test('a body opens at no other customer, kind, record or version', () => {
  const sealed = sealBody(key, placeOf(), body)
  for (const other of [
    { customerId: 'globex' },
    { kind: 'statements' },
    { id: 'two' },
    { digest: placeOf().digest + 1 },
  ]) {
    assert.equal(
      openBody(key, { ...placeOf(), ...other }, sealed),
      undefined,
      JSON.stringify(other),
    )
  }
  const rotated = makeCustomerKey('acme', systemRandom, index, key)
  assert.equal(openBody({ ...rotated, id: key.id }, placeOf(), sealed), undefined)
})

test('a body with any change of its text does not open', () => {
  const sealed = sealBody(key, placeOf(), body)
  const at = fc.integer({ min: key.id.length, max: sealed.length - 1 })
  const character = fc.constantFrom(...'ABCxyz019+/=._- \n')
  const changes = fc.oneof(
    fc
      .tuple(at, character)
      .map(([place, one]) => sealed.slice(0, place) + one + sealed.slice(place + 1)),
    fc
      .tuple(at, character)
      .map(([place, one]) => sealed.slice(0, place) + one + sealed.slice(place)),
    at.map((place) => sealed.slice(0, place)),
    at.map((place) => sealed.slice(0, place) + sealed.slice(place + 1)),
  )
  const isRefused = (changed: string) =>
    changed === sealed || openBody(key, placeOf(), changed) === undefined
  fc.assert(fc.property(changes, isRefused), { numRuns: 2000 })
})

test('a digest depends on the key, the kind, the record and the content', () => {
  const digest = digestOf(key, 'fiat-accounts', 'one', body)
  assert.ok(Number.isSafeInteger(digest))
  const others = [
    digestOf(makeCustomerKey('acme', systemRandom, index, key), 'fiat-accounts', 'one', body),
    digestOf(key, 'statements', 'one', body),
    digestOf(key, 'fiat-accounts', 'two', body),
    digestOf(key, 'fiat-accounts', 'one', `${body} `),
  ]
  for (const other of others) assert.notEqual(other, digest)
})

test('a wrapped key opens for its customer alone, with the key that wrapped it', () => {
  const kek = { id: 'kek', key: systemRandom(32) }
  const wrapped = wrapCustomerKey(key, kek, systemRandom)
  assert.deepEqual(unwrapCustomerKey(wrapped, kek, indexing), key)
  assert.equal(unwrapCustomerKey({ ...wrapped, customerId: 'globex' }, kek, indexing), undefined)
  assert.equal(unwrapCustomerKey({ ...wrapped, id: 'k0000000000' }, kek, indexing), undefined)
  assert.equal(unwrapCustomerKey({ ...wrapped, indexKey: 'other' }, kek, indexing), undefined)
  const other = { id: 'kek', key: systemRandom(32) }
  assert.equal(unwrapCustomerKey(wrapped, other, indexing), undefined)
})

test('a key knows the fingerprints of those that its customer had before', () => {
  const kek = { id: 'kek', key: systemRandom(32) }
  const second = makeCustomerKey('acme', systemRandom, index, key)
  const third = makeCustomerKey('acme', systemRandom, index, second)
  assert.deepEqual(third.former, [key, second].map(keyFingerprint))
  assert.deepEqual(
    unwrapCustomerKey(wrapCustomerKey(third, kek, systemRandom), kek, indexing),
    third,
  )
})
