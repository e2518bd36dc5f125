import { compose } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { TSchema } from 'typebox'
import { limits } from '../../../platform/limits.ts'
import { counted } from '../../../values/counted.ts'
import type { Entry } from '../../entry.ts'
import { NOTE, UnreadableFile } from '../reading/lines.ts'
import { refuseOtherEncodings } from './encoding.ts'
import { guardCsv } from './guard.ts'
import { type Column, readHeader, type SchemaNode } from './header.ts'

/**
 * Reads CSV with a header line. A dotted column is a nested member; a number in it is the index of
 * an array's item (`statement_balances.0.asset`). The text after `metadata.` is one key. An empty
 * cell is an absent member. The cell `null` is null where the member may be null. Without a
 * delimiter, commas separate the cells.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  schema: TSchema,
  { delimiter = ',', nullText, onHeader }: CsvOptions = {},
): AsyncIterable<Entry> {
  const { hasNotes, content } = await beginOf(chunks)
  const parser = compose(
    refuseOtherEncodings(guardCsv(content, delimiter)),
    parse({
      bom: true,
      info: true,
      raw: true,
      delimiter,
      ...(hasNotes && { comment: NOTE, comment_no_infix: true }),
      skip_empty_lines: true,
      // Otherwise the parser stops at a row of another length instead of reporting it as a fault.
      relax_column_count: true,
      max_record_size: limits.recordBytesMax,
    }),
  )
  let columns: readonly Column[] | undefined
  try {
    for await (const { record: cells, info, raw: given } of parser as AsyncIterable<CsvRow>) {
      const raw = given.replace(/^[\r\n]+|[\r\n]+$/g, '')
      const place = { line: info.lines, raw }
      if (columns === undefined) {
        columns = readHeader(cells, schema, delimiter)
        onHeader?.(raw)
      } else if (cells.length === columns.length) {
        yield { ...place, value: nest(columns, cells, schema, nullText) }
      } else yield { ...place, code: 'malformed', reason: otherLength(cells, columns) }
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error) : error
  }
  if (columns === undefined) throw new UnreadableFile('is empty; CSV starts with a header line')
}

export type CsvOptions = {
  /** One character. A comma by default. */
  readonly delimiter?: string | undefined
  /** The cell that is null where a member may be null, and else absent. */
  readonly nullText?: string | undefined
  /** Takes the header line as it came. */
  readonly onHeader?: (header: string) => void
}

type CsvRow = {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
  readonly raw: string
}

/** Whether the content is a file of rejected records, whose notes are left out. */
async function beginOf(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  const start = first.done === true ? '' : Buffer.from(first.value.subarray(0, 3)).toString()
  const content = (async function* () {
    try {
      if (first.done !== true) yield first.value
      yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  })()
  return { hasNotes: start === NOTE, content }
}

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

function nest(
  columns: readonly Column[],
  cells: readonly string[],
  schema: TSchema,
  nullText: string | undefined,
): unknown {
  const root: Node = Object.create(null)
  for (const [at, { path, schema: leaf }] of columns.entries()) {
    const cell = cells[at] ?? ''
    const value = memberOf(cell, leaf, nullText)
    if (value !== undefined) parentOf(root, path)[path.at(-1) ?? ''] = value
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

/** Undefined is an absent member. */
function memberOf(
  cell: string,
  schema: SchemaNode,
  nullText: string | undefined,
): string | number | null | undefined {
  const types = [schema.type ?? 'string'].flat()
  const isNull = cell === (nullText ?? 'null')
  if (isNull && types.includes('null')) return null
  if (cell === '' || (isNull && nullText !== undefined)) return undefined
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
