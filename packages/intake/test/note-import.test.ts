import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem } from '@bursar/contract'
import {
  ImportCancelled,
  NothingChanged,
  type RunningImport,
  StoreUnavailable,
} from '@bursar/records'
import { notesOf, outcomeOfError, outcomeOfReport } from '../src/note-import.ts'

type Fault = Parameters<typeof outcomeOfReport>[0]['faults'][number]

const counts = { added: 1, changed: 2, unchanged: 3, rejected: 4, withdrawn: 5 }
const clean = { ...counts, faultCount: 0, faults: [] }

test('a report without a fault has stored its records, or only checked them', () => {
  assert.deepEqual(outcomeOfReport(clean, false), { state: 'stored', counts })
  assert.deepEqual(outcomeOfReport(clean, true), { state: 'checked', counts })
})

test('a report with faults names how many, and line and code of the first alone', () => {
  const fault: Fault = { line: 7, code: 'held' }
  const reasonOf = (faultCount: number, faults: readonly Fault[]) =>
    outcomeOfReport({ ...clean, faultCount, faults }, false)
  const refused = (reason: string) => ({ state: 'refused', reason })
  assert.deepEqual(reasonOf(1, [fault]), refused('1 fault; the first in line 7: held'))
  assert.deepEqual(reasonOf(3, [fault, fault]), refused('3 faults; the first in line 7: held'))
  const ofFile = { ...fault, line: 0 }
  assert.deepEqual(reasonOf(2, [ofFile]), refused('2 faults; the first: held'))
  assert.deepEqual(reasonOf(2, []), refused('2 faults'))
})

test('an error is a refusal, a failure or a cancellation, and quotes no unknown message', () => {
  for (const [error, state, reason] of [
    [new ImportCancelled(), 'cancelled', /was cancelled/],
    [problem('keyReused', 'take a new key'), 'refused', /^take a new key$/],
    [problem('tooManyRequests', 'too many'), 'refused', /^too many$/],
    [problem('notSentInTime', 'the caller has left'), 'failed', /^the caller has left$/],
    [problem('unavailable', 'too busy'), 'failed', /^too busy$/],
    [new StoreUnavailable('SECRET path'), 'failed', /^the store could not be reached or was lo/],
    [new NothingChanged('SECRET path'), 'failed', /^the store could not be reached or was lo/],
    [new Error('SECRET'), 'failed', /^an error that was not expected/],
  ] as const) {
    const outcome = outcomeOfError(error)
    assert.equal(outcome.state, state, String(error))
    assert.ok('reason' in outcome)
    assert.match(outcome.reason, reason)
    assert.doesNotMatch(outcome.reason, /SECRET/)
  }
})

test('the steps of a merge are states of its entry, or what it waits for', () => {
  const noted: string[] = []
  const running: Pick<RunningImport, 'enter' | 'wait' | 'progress'> = {
    enter: (state) => void noted.push(state),
    wait: (code) => void noted.push(`waits for ${code}`),
    progress: (records) => void noted.push(String(records)),
  }
  const { onStep, onProgress } = notesOf(running)
  onProgress(3)
  for (const step of ['session', 'checking', 'customer_lock', 'store_lock', 'merging'] as const) {
    onStep(step)
  }
  assert.deepEqual(noted, [
    '3',
    'waits for session',
    'checking',
    'waits for customer_lock',
    'waits for store_lock',
    'merging',
  ])
})
