import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { DearRequests } from '../support/measure-request-costs.ts'

const program = new URL('../support/measure-request-costs.ts', import.meta.url).pathname
let dear: DearRequests

before(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  dear = JSON.parse(stdout)
})

describe('the largest request of every shape', () => {
  test('takes at most 1 ms of the event loop before authentication', () => {
    assert.deepEqual(dear.beforeAuthentication, {})
  })

  test('takes at most 2 ms after it, excluding its page', () => {
    assert.deepEqual(dear.ofCustomers, {})
  })
})
