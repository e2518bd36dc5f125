import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSandbox } from 'bursar/testing'
import { createBursar } from 'bursar-client'

let sandbox
beforeAll(async () => {
  sandbox = await createSandbox()
})
afterAll(() => sandbox.close())

test('a token expires when the clock moves', async () => {
  const bursar = createBursar({ baseUrl: sandbox.url, ...sandbox.client })
  expect(await bursar.fiatAccounts.list().toArray({ max: 1000 })).toEqual([])
  await sandbox.clock.advance(901)
  // The client renews its token and repeats the call.
  expect(await bursar.fiatAccounts.list().toArray({ max: 1000 })).toEqual([])
})
