import { once } from 'node:events'
import { Argument, type Command } from 'commander'
import { recordKinds, resources } from '../resources/catalogue.ts'
import type { Stores } from '../stores.ts'
import { printableJson } from '../values/printable.ts'
import { type CommonOptions, newCommand } from './options.ts'
import { withStores } from './with-stores.ts'

type ExportOptions = CommonOptions & { readonly customer?: string }

const description = 'Export records in the format of import: NDJSON, or a JSON array with --json.'

export function exportCommand(): Command {
  return newCommand('export', description)
    .addArgument(new Argument('<kind>', 'The kind of record.').choices(recordKinds))
    .option('--customer <id>', 'Export the records of this customer only.')
    .action(async (kind: string, options: ExportOptions) => {
      const resource = resources.find((candidate) => candidate.kind === kind)
      if (resource === undefined) return
      const write = async (stores: Stores) => {
        const lines = stores.records().operator.exportLines(resource, options.customer)
        await writeAll(options.json === true ? asArray(lines) : asLines(lines))
      }
      await withStores(options, write, { mustExist: true })
    })
}

async function* asLines(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${printableJson(line)}\n`
}

async function* asArray(lines: AsyncIterable<string>): AsyncIterable<string> {
  let separator = '[\n'
  for await (const line of lines) {
    yield separator + printableJson(line)
    separator = ',\n'
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n'
}

/** Waits for a slow reader, so that memory stays bounded. */
async function writeAll(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
  }
}
