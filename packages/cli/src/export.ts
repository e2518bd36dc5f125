import { printableJson } from '@bursar/base'
import { resourceOf } from '@bursar/contract'
import { openSpoolsOf, type Spool } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, kindArgument, newCommand } from './options.ts'
import type { Output } from './output.ts'
import { withAudit } from './with-stores.ts'

type ExportOptions = CommonOptions & { readonly customer?: string; readonly array?: boolean }

const description =
  'Export records as NDJSON, which import reads. All of them are as they were at one moment. They wait in BURSAR_SPOOL_FOLDER for a slow reader, so that it holds no transaction.'

export function exportCommand(output: Output): Command {
  return newCommand('export', description, [
    'export fiat-accounts > fiat-accounts.ndjson',
    'export statements --customer northwind --array > statements.json',
  ])
    .addArgument(kindArgument())
    .option('--customer <id>', 'Export the records of this customer only.')
    .option('--array', 'Print one JSON array instead, which import reads from a .json file.')
    .action(async (kind: string, options: ExportOptions, command: Command) => {
      const spool = await withAudit(command, options, async ({ stores, config, audited }) => {
        const { customer } = options
        const whose = customer === undefined ? {} : { customer }
        await audited.write({ action: 'export', kind, view: 'full', ...whose })
        const lines = stores.records().operator.exportLines(resourceOf(kind), customer)
        return await spooled(inFormat(lines, options), openSpoolsOf(config).open())
      })
      try {
        for await (const text of textOf(spool.read())) await output.write(text)
      } finally {
        await spool.close()
      }
    })
}

/**
 * Takes all of an export before any of it is written. A reader that stalls would otherwise hold the
 * snapshot of the export, behind which the log of the store grows without limit.
 */
async function spooled(pieces: AsyncIterable<string>, spool: Spool): Promise<Spool> {
  try {
    for await (const piece of pieces) await spool.write(piece)
    return spool
  } catch (error) {
    await spool.close()
    throw error
  }
}

/** A piece of bytes may end within a character. */
async function* textOf(pieces: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true })
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
