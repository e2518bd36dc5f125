import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem } from '@bursar/contract'
import { ImportCancelled, NothingChanged, StoreUnavailable } from '@bursar/records'
import { failureOfError, failureOfReport } from '../src/note-import.ts'

type Fault = Parameters<typeof failureOfReport>[0]['faults'][number]

const counts = { records: 9, added: 1, changed: 2, unchanged: 3, rejected: 4, withdrawn: 5 }
const clean = { ...counts, faultCount: 0, faults: [] }

test('a report with faults names how many, and line and code of the first alone', () => {
  const fault: Fault = { line: 7, code: 'held' }
  const reasonOf = (faultCount: number, faults: readonly Fault[]) =>
    failureOfReport({ ...clean, faultCount, faults })
  const refused = (reason: string) => ({ state: 'refused', reason })
  assert.deepEqual(reasonOf(1, [fault]), refused('1 fault; the first in line 7: held'))
  assert.deepEqual(reasonOf(3, [fault, fault]), refused('3 faults; the first in line 7: held'))
  const ofFile = { ...fault, line: 0 }
  assert.deepEqual(reasonOf(2, [ofFile]), refused('2 faults; the first: held'))
  assert.deepEqual(reasonOf(2, []), refused('2 faults'))
})

test('an error is a refusal or a cancellation, and quotes no unknown message', () => {
  for (const [error, state, reason] of [
    [new ImportCancelled(), 'cancelled', /was cancelled/],
    [problem('keyReused', 'take a new key'), 'refused', /^take a new key$/],
    [problem('tooManyRequests', 'too many'), 'refused', /^too many$/],
    [problem('notSentInTime', 'the caller has left'), 'refused', /^the caller has left$/],
    [problem('unavailable', 'too busy'), 'refused', /^too busy$/],
    [new StoreUnavailable('SECRET path'), 'refused', /^the store could not be reached or was lo/],
    [new NothingChanged('SECRET path'), 'refused', /^the store could not be reached or was lo/],
    [new Error('SECRET'), 'refused', /^an error that was not expected/],
  ] as const) {
    const outcome = failureOfError(error)
    assert.equal(outcome.state, state, String(error))
    assert.match(outcome.reason, reason)
    assert.doesNotMatch(outcome.reason, /SECRET/)
  }
})
