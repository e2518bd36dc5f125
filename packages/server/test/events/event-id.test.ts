import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { StoredEvent } from '@bursar/records'
import fc from 'fast-check'
import { anId } from '../../../../test/support/records.ts'
import { eventId, openEventId } from '../../src/works/events/event-id.ts'

const secret = fc.uint8Array({ minLength: 16, maxLength: 16 })
const change = fc.bigInt({ min: 0n, max: 2n ** 42n - 1n })

const event = (number: bigint, over: Partial<StoredEvent> = {}): StoredEvent => ({
  kind: 'statements',
  id: anId(1),
  action: 'updated',
  change: number,
  storedAt: 1_800_000_000_000_000n,
  mark: 7n,
  asOf: 0n,
  ...over,
})

test('an id is a UUID of version 8 that its secret opens, and no other', () => {
  fc.assert(
    fc.property(secret, secret, change, (own, other, number) => {
      const id = eventId(own, event(number))
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.equal(openEventId(own, id), number)
      assert.equal(eventId(own, event(number)), id)
      if (Buffer.compare(own, other) !== 0) assert.equal(openEventId(other, id), undefined)
    }),
  )
})

test('events that got one number, before and after a recovery, have different ids', () => {
  const own = randomBytes(16)
  const ids = [
    {},
    { kind: 'fiat-accounts' },
    { id: anId(2) },
    { action: 'created' },
    { storedAt: 1_800_000_000_000_001n },
    { mark: 8n },
  ].map((over) => eventId(own, event(7n, over as Partial<StoredEvent>)))
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.equal(openEventId(own, id), 7n)
  // When its record is known from is no part of the event: pruning raises it.
  assert.equal(eventId(own, event(7n, { asOf: 1n })), ids[0])
})

test('no changed id opens', () => {
  const own = randomBytes(16)
  const id = eventId(own, event(7n))
  for (let at = 0; at < id.length; at += 1) {
    if (id[at] === '-') continue
    for (const digit of '0123456789abcdef') {
      const changed = `${id.slice(0, at)}${digit}${id.slice(at + 1)}`
      if (changed !== id) assert.equal(openEventId(own, changed), undefined, changed)
    }
  }
})

test('ids do not show their order', () => {
  const own = randomBytes(16)
  const ids = Array.from({ length: 200 }, (_, at) => eventId(own, event(BigInt(at))))
  assert.equal(new Set(ids).size, 200)
  assert.notDeepEqual(ids, ids.toSorted())
  assert.notDeepEqual(ids, ids.toSorted().toReversed())
})
