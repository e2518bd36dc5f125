import { test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { aQuote, idOf } from '../packages/records/test/support/quotes.ts'
import { newStorePlace } from '../test/support/store-place.ts'
import { note, rounded } from './figure.ts'

test('issuing quotes beside many open ones of the client', async (t) => {
  const quotes = await (await newStorePlace(t)).openQuotes()
  const issueMany = async (from: number) => {
    const startedAt = performance.now()
    const ids = Array.from({ length: 2000 }, (_, at) => idOf(from + at))
    await Promise.all(
      ids.map((id) =>
        quotes.customers.issue(asTenant('acme'), aQuote({ id }), Number.MAX_SAFE_INTEGER),
      ),
    )
    return performance.now() - startedAt
  }
  await issueMany(0)
  const few = await issueMany(2000)
  for (let from = 4000; from < 34_000; from += 2000) await issueMany(from)
  const ratio = rounded((await issueMany(34_000)) / few)
  const name = 'time of 2,000 quotes beside 34,000 open ones'
  note(t, { name, value: ratio, unit: 'times that beside 2,000', goal: 8 })
})
