import { once } from 'node:events'
import { Argument, Command } from 'commander'
import { recordKinds, resources } from '../resources/catalogue.ts'
import { requireStore } from '../stores.ts'
import { openCommandStores, operatorConfigOf } from './command-stores.ts'
import { type CommonOptions, withCommonOptions } from './options.ts'

type ExportFlags = CommonOptions & { readonly customer?: string }

export function exportCommand(): Command {
  return withCommonOptions(new Command('export'))
    .description(
      'gives the records back out, as import takes them: NDJSON, or a JSON array with --json',
    )
    .addArgument(new Argument('<kind>', 'what the records are').choices(recordKinds))
    .option('--customer <id>', 'the records of one customer only')
    .action(async (kind: string, flags: ExportFlags) => {
      const resource = resources.find((candidate) => candidate.kind === kind)
      if (resource === undefined) return
      requireStore(operatorConfigOf(flags))
      const stores = await openCommandStores(flags)
      try {
        const lines = stores.records().operator.exportLines(resource, flags.customer)
        await writeAll(flags.json ? asArray(lines) : asLines(lines))
      } finally {
        await stores.close()
      }
    })
}

async function* asLines(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${line}\n`
}

async function* asArray(lines: AsyncIterable<string>): AsyncIterable<string> {
  let separator = '[\n'
  for await (const line of lines) {
    yield separator + line
    separator = ',\n'
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n'
}

/** Waits where the reader is slower than the store, so that memory stays flat. */
async function writeAll(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
  }
}
