import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { serverEnv } from '../bench/embedded.ts'
import { accounts, BIG, customerOf, fill, idOf, makeClient } from '../bench/world.ts'
import { runWrk } from '../bench/wrk.ts'
import { configOf, fetchToken, temporaryFolder } from '../test/support/harness.ts'
import { startProcess } from '../test/support/server-process.ts'
import { note, rounded } from './figure.ts'

const RECORDS = 1_000_000
const ROUNDS = 5
const SECONDS = 10

const withoutWalks = new URL('support/without-walks.ts', import.meta.url).href

test('the first seconds after a start, beside the walks over the store and without', async (t) => {
  const folder = temporaryFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const config = configOf({ DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}` })
  await fill(config, accounts(RECORDS))
  const client = await makeClient(config, { customerId: BIG })
  const requests = Array.from({ length: 20_000 }, (_, at) => at * 50 + 1)
    .filter((at) => customerOf(at) === BIG)
    .map((at) => ({ path: `/v2/transfer/fiat-accounts/${idOf(at)}` }))
  const rateOf = async (flags: readonly string[]) => {
    const words = [...flags, 'packages/cli/src/main.ts', 'serve']
    const env = { ...serverEnv, DATABASE_URL: config.databaseUrl }
    const service = await startProcess(words, { env })
    try {
      const tokens = [await fetchToken(service.url, client)]
      return await runWrk({ url: service.url, tokens, requests, seconds: SECONDS })
    } finally {
      await service.stop()
    }
  }
  const ratios: number[] = []
  const latencies: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const without = await rateOf(['--import', withoutWalks])
    const beside = await rateOf([])
    ratios.push(beside.rate / without.rate)
    latencies.push(beside.p99 / without.p99)
  }
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0
  note(t, {
    name: 'gets of the first seconds of a start, 1,000,000 records',
    value: rounded(median(ratios)),
    unit: 'of those without walks',
    goal: 0.95,
    atLeast: true,
  })
  note(t, {
    name: 'their p99',
    value: rounded(median(latencies)),
    unit: 'times that without walks',
  })
})
