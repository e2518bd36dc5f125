import { createInterface } from 'node:readline'
import { asTenant } from '../../../src/contract/principal.ts'
import { openQuotesAt } from '../../support/store-place.ts'

/**
 * A process of its own over the quotes of one place. It reads commands as lines of JSON and answers each with a line once it
 * is done, so that whoever kills it knows what was acknowledged.
 */
const quotes = await openQuotesAt(process.argv[2] ?? '')
const revive = (_: string, value: unknown) =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value

for await (const line of createInterface({ input: process.stdin })) {
  const { number, issue, consume } = JSON.parse(line, revive)
  const work =
    issue === undefined
      ? quotes.operator.consume(consume)
      : quotes.customers.issue(asTenant('acme'), issue, 1_000_000)
  void work.then(({ outcome, ...rest }) => {
    const again = 'again' in rest ? rest.again : undefined
    process.stdout.write(`${JSON.stringify({ number, outcome, again })}\n`)
  })
}
