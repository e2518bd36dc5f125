import { createSandbox } from 'bursar/testing'
import { createBursar } from 'bursar-client'
import { afterAll, beforeAll, expect, test } from 'vitest'

let sandbox
beforeAll(async () => {
  sandbox = await createSandbox()
})
afterAll(() => sandbox.close())

test('a customer of its own for each test', async () => {
  const customer = await sandbox.customer({ records: 'sample' })
  const bursar = createBursar({ baseUrl: sandbox.url, ...customer })
  const accounts = await bursar.fiatAccounts.list().toArray({ max: 1000 })
  expect(accounts).toHaveLength(100)
})
