import { createInterface } from 'node:readline'
import { asTenant } from '@bursar/contract'
import { openQuotesAt } from '../../../../test/support/store-place.ts'

/**
 * A process that opens a quote store. It reads commands as lines of JSON, and writes a line when a
 * command is done. So the test knows what was acknowledged before it killed the process. The last
 * command sets the time of an embedded store.
 */
let now = 0n
const quotes = await openQuotesAt(process.argv[2] ?? '', () => now)
const revive = (_: string, value: unknown) =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value

for await (const line of createInterface({ input: process.stdin })) {
  const { number, at, issue, consume } = JSON.parse(line, revive)
  now = at
  const work =
    issue === undefined
      ? quotes.operator.consume(consume)
      : quotes.customers.issue(asTenant('acme'), issue, 1_000_000)
  void work.then(({ outcome, ...rest }) => {
    const again = 'again' in rest ? rest.again : undefined
    process.stdout.write(`${JSON.stringify({ number, outcome, again })}\n`)
  })
}
