const { createSandbox } = require('bursar/testing')
const { createBursar } = require('bursar-client')

let sandbox
beforeAll(async () => {
  sandbox = await createSandbox()
}, 60_000)
afterAll(() => sandbox.close())

test('a token expires when the clock moves', async () => {
  const bursar = createBursar({ baseUrl: sandbox.url, ...sandbox.client })
  expect(await bursar.fiatAccounts.list().toArray({ max: 1000 })).toEqual([])
  await sandbox.clock.advance(901)
  // The client renews its token and repeats the call.
  expect(await bursar.fiatAccounts.list().toArray({ max: 1000 })).toEqual([])
})
