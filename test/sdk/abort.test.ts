import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { abortable, onAbort } from '../../sdk/src/abort.ts'

test('a signal has one listener of ours, however many calls use it', () => {
  const controller = new AbortController()
  const called: number[] = []
  const stops = [0, 1, 2].map((at) => onAbort(controller.signal, () => called.push(at)))
  assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
  stops[1]?.()
  controller.abort()
  assert.deepEqual(called, [0, 2])
})

test('a signal that is aborted already calls the listener at once', () => {
  let isCalled = false
  onAbort(AbortSignal.abort(), () => {
    isCalled = true
  })
  assert.ok(isCalled)
})

test('a promise without a signal, or before its signal, keeps its outcome', async () => {
  const { signal } = new AbortController()
  assert.equal(await abortable(Promise.resolve(1), undefined), 1)
  assert.equal(await abortable(Promise.resolve(2), signal), 2)
  await assert.rejects(abortable(Promise.reject(new Error('own')), signal), /own/)
})
