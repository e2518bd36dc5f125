import assert from 'node:assert/strict'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { acme, aQuote, idOf, noon } from '../../records/test/support/quotes.ts'
import { openSqliteFeeQuotes } from '../src/fee-quotes.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

const CLIENTS = 100
const FRAME = 8192 + 24

test('the log of quotes holds changes of many commits, and starts again at its limit', async () => {
  const path = join(folder, 'quotes.db')
  const quotes = openSqliteFeeQuotes(path, () => noon)
  const frames = () => Math.floor(statSync(`${path}-wal`).size / FRAME)
  const issue = (at: number) => {
    const quote = aQuote({ id: idOf(at), clientId: `client_${at % CLIENTS}`.padEnd(60, 'x') })
    return quotes.customers.issue(acme, quote, 10_000)
  }
  const sizes: number[] = []
  for (let batch = 0; batch < 150; batch += 1) {
    const first = batch * CLIENTS
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => issue(first + at)))
    sizes.push(frames())
  }
  const largest = Math.max(...sizes)
  assert.ok(largest >= limitNamed('quoteLogPages'), `${largest} pages`)
  // One more commit may follow the page that reaches the limit.
  assert.ok(largest < limitNamed('quoteLogPages') + 3 * CLIENTS, `${largest} pages`)
  assert.equal(sizes.at(-1), largest, 'the log was not used again from its start')
  await quotes.close()
})
