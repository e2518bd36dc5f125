import { printableJson } from '@bursar/base'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { isoOf, type Output, printResult } from '../output.ts'
import { withStores } from '../with-stores.ts'

/** The list that a restored store needs: `reconcile --erasures` reads it. */
export function erasuresCommand(output: Output): Command {
  const command = newCommand(
    'erasures',
    'List the customers that were erased, a line of JSON for each. Keep the list apart from the store: reconcile --erasures needs it after a restore.',
    ['customer erasures > erasures.ndjson', 'customer erasures --json'],
    'Print one JSON object with the list.',
  )
  return command.action(async (options: CommonOptions) => {
    const erasures = await withStores(options, (stores) => stores.credentials().listErasures())
    const document = {
      // Null: it was cut off, so a restored store must repeat it whatever its time.
      erasures: erasures.map(({ customerId, endedAt }) => ({
        customer_id: customerId,
        erased_at: endedAt === undefined ? null : isoOf(endedAt),
      })),
    }
    const lines = document.erasures.map((erasure) => printableJson(JSON.stringify(erasure)))
    printResult(output, options, document, lines)
  })
}
