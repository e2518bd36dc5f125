import { Argument, type Command } from 'commander'
import { recordKinds, resources } from '../resources/catalogue.ts'
import { printableJson } from '../values/printable.ts'
import { type CommonOptions, newCommand } from './options.ts'
import type { Output } from './output.ts'
import { logAccess } from './processes/operator-log.ts'
import { withStores } from './with-stores.ts'

type ExportOptions = CommonOptions & { readonly customer?: string; readonly array?: boolean }

const description = 'Export records as NDJSON, which import reads.'

export function exportCommand(output: Output): Command {
  return newCommand('export', description)
    .addArgument(new Argument('<kind>', 'The kind of record.').choices(recordKinds))
    .option('--customer <id>', 'Export the records of this customer only.')
    .option('--array', 'Print one JSON array instead, which import reads from a .json file.')
    .action(async (kind: string, options: ExportOptions) => {
      const resource = resources.find((candidate) => candidate.kind === kind)
      if (resource === undefined) return
      await withStores(options, async (stores) => {
        const { customer } = options
        const whose = customer === undefined ? {} : { customer }
        logAccess(output, options, { access: 'export', kind, ...whose })
        const lines = stores.records().operator.exportLines(resource, options.customer)
        for await (const piece of inFormat(lines, options)) await output.write(piece)
      })
    })
}

function inFormat(lines: AsyncIterable<string>, options: ExportOptions): AsyncIterable<string> {
  if (options.json === true) return asArray(lines, '{"records":[', ']}\n')
  return options.array === true ? asArray(lines, '[', ']\n') : asLines(lines)
}

async function* asLines(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${printableJson(line)}\n`
}

async function* asArray(
  lines: AsyncIterable<string>,
  start: string,
  end: string,
): AsyncIterable<string> {
  let separator = `${start}\n`
  for await (const line of lines) {
    yield separator + printableJson(line)
    separator = ',\n'
  }
  const isEmpty = separator !== ',\n'
  yield isEmpty ? start + end : `\n${end}`
}
