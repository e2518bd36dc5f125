import { compose } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { TSchema } from 'typebox'
import { limits } from '../../platform/limits.ts'
import { counted } from '../../values/counted.ts'
import { type Entry, UnreadableFile } from '../lines.ts'
import { refuseOtherEncodings } from './encoding.ts'
import { guardCsv } from './guard.ts'
import { type Column, readHeader, type SchemaNode } from './header.ts'

/**
 * Reads CSV with a header line. A dotted column is a nested member; a number in it is the index of
 * an array's item (`statement_balances.0.asset`). The text after `metadata.` is one key. An empty
 * cell is an absent member. The cell `null` is null where the member may be null.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  schema: TSchema,
): AsyncIterable<Entry> {
  const parser = compose(
    refuseOtherEncodings(guardCsv(chunks)),
    parse({
      bom: true,
      info: true,
      skip_empty_lines: true,
      // Otherwise the parser stops at a row of another length instead of reporting it as a fault.
      relax_column_count: true,
      max_record_size: limits.recordBytesMax,
    }),
  )
  let columns: readonly Column[] | undefined
  try {
    for await (const { record: cells, info } of parser as AsyncIterable<CsvRow>) {
      const line = info.lines
      if (columns === undefined) columns = readHeader(cells, schema)
      else if (cells.length === columns.length) yield { line, value: nest(columns, cells, schema) }
      else yield { line, reason: otherLength(cells, columns) }
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error) : error
  }
  if (columns === undefined) throw new UnreadableFile('is empty; CSV starts with a header line')
}

type CsvRow = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

const otherLength = (cells: readonly string[], columns: readonly Column[]): string =>
  `has ${counted(cells.length, 'cell')}, the header has ${columns.length}`

/** The parser's messages are sentences, some of which end with the line. None quotes a cell. */
function unreadable({ code, message, lines }: CsvError & { lines?: number }): UnreadableFile {
  return new UnreadableFile(faults[code] ?? message, lines)
}

const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark that opens a cell is not closed',
  INVALID_OPENING_QUOTE:
    'a quotation mark stands inside a cell; put the cell in quotation marks and double those in it',
  CSV_INVALID_CLOSING_QUOTE:
    'a quotation mark is followed by other text; double the quotation marks inside a cell',
}

type Node = { [member: string]: Node | string | number | null }

function nest(columns: readonly Column[], cells: readonly string[], schema: TSchema): unknown {
  const root: Node = Object.create(null)
  for (const [at, { path, schema: leaf }] of columns.entries()) {
    const cell = cells[at] ?? ''
    if (cell !== '') parentOf(root, path)[path.at(-1) ?? ''] = typed(cell, leaf)
  }
  return shape(root, schema as SchemaNode)
}

/** The object that holds the last member of the path. No column is a member of another. */
function parentOf(root: Node, path: readonly string[]): Node {
  let parent = root
  for (const member of path.slice(0, -1)) {
    const child = parent[member]
    const node: Node = typeof child === 'object' && child !== null ? child : Object.create(null)
    parent[member] = node
    parent = node
  }
  return parent
}

function typed(cell: string, schema: SchemaNode): string | number | null {
  const types = [schema.type ?? 'string'].flat()
  if (cell === 'null' && types.includes('null')) return null
  if (types.includes('integer') && /^-?\d{1,16}$/.test(cell)) return Number(cell)
  return cell
}

/** Turns members numbered from 0 without a gap into arrays. The check refuses the others. */
function shape(node: Node | string | number | null, schema: SchemaNode): unknown {
  if (typeof node !== 'object' || node === null) return node
  const { items } = schema
  const numbers = Object.keys(node)
  if (items !== undefined && numbers.every((_number, at) => Object.hasOwn(node, String(at)))) {
    return numbers.map((_number, at) => shape(node[at] ?? null, items))
  }
  return Object.fromEntries(
    Object.entries(node).map(([member, value]) => [
      member,
      shape(value, schema.properties?.[member] ?? {}),
    ]),
  )
}
