import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepRecentlyUsed } from '../src/recently-used.ts'

test('what is used stays, and what is not goes', () => {
  const kept = keepRecentlyUsed<number, string>(6)
  for (let key = 0; key < 100; key += 1) {
    kept.set(key, String(key))
    assert.equal(kept.get(0), '0')
  }
  const left = Array.from({ length: 100 }, (_, key) => key).filter(
    (key) => kept.get(key) !== undefined,
  )
  assert.ok(left.length <= 7, String(left))
  assert.ok(left.includes(99))
})

test('the sizes of values count, also of replaced and removed ones', () => {
  const kept = keepRecentlyUsed<string, number>(20, (size) => size)
  for (let times = 0; times < 50; times += 1) {
    kept.set('again', 4)
    kept.set('gone', 4)
    kept.delete('gone')
  }
  kept.set('other', 4)
  assert.equal(kept.get('gone'), undefined)
  assert.deepEqual([kept.get('again'), kept.get('other')], [4, 4])
  for (const key of ['a', 'b', 'c']) kept.set(key, 10)
  assert.equal(kept.get('again'), undefined)
})
