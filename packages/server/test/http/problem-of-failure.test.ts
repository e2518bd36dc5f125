import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NothingChanged, StoreUnavailable } from '@bursar/records'
import { problemOf } from '../../src/server/problem-of-failure.ts'

test('a store that cannot answer is a 503 that says in whole seconds when to try again', () => {
  for (const [failure, seconds] of [
    [new StoreUnavailable('the database does not answer'), '1'],
    [new NothingChanged('too many records wait', { retryAfterMs: 0 }), '1'],
    [new NothingChanged('too many records wait', { retryAfterMs: 1000 }), '1'],
    [new NothingChanged('too many records wait', { retryAfterMs: 1001 }), '2'],
    [new StoreUnavailable('a merge holds the lock', { retryAfterMs: 12_300 }), '13'],
  ] as const) {
    const { status, headers } = problemOf(failure)
    assert.deepEqual([status, headers?.['retry-after']], [503, seconds], failure.message)
  }
})
