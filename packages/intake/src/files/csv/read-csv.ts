import { counted } from '@bursar/base'
import type { TSchema } from 'typebox'
import type { Entry } from '../../entry.ts'
import { UnreadableFile } from '../reading/lines.ts'
import { type Format, type RawEntry, readEntries } from '../reading/read-entries.ts'
import { boundRows } from './bound-rows.ts'
import { cellReader, reasonOf } from './cells.ts'
import { refuseOtherEncodings } from './encoding.ts'
import { type Column, readHeader, type SchemaNode } from './header.ts'
import { rowSplitter } from './split-rows.ts'

/**
 * Reads CSV with a header line. A dotted column is a nested member; a number in it is the index of
 * an array's item (`statement_balances.0.asset`). The text after `metadata.` is one key. An empty
 * cell is an absent member, and a row of empty cells is skipped. The cell `null` is null where the
 * member may be null. Without a delimiter, commas separate the cells.
 */
export const readCsv = (
  chunks: AsyncIterable<Uint8Array>,
  schema: TSchema,
  options: CsvOptions = {},
): AsyncIterable<Entry> =>
  readEntries(
    refuseOtherEncodings(boundRows(chunks, options.delimiter ?? COMMA)),
    csv(schema, options),
  )

const COMMA = ','

export type CsvOptions = {
  /** One character. A comma by default. */
  readonly delimiter?: string | undefined
  /** The cell that is null where a member may be null, and else absent. */
  readonly nullText?: string | undefined
  /** Takes the header line as it came. */
  readonly onHeader?: (header: string) => void
  /** Called for each row whose cells are all empty, which is skipped. */
  readonly onBlankRow?: () => void
}

function csv(
  schema: TSchema,
  { delimiter = COMMA, nullText, onHeader, onBlankRow }: CsvOptions,
): Format {
  const rows = rowSplitter()
  let header: readonly Column[] | undefined
  const cellsOf = cellReader(delimiter)
  const afterHeader = function* (found: Iterable<RawEntry>): Iterable<RawEntry> {
    for (const row of found) {
      if (header !== undefined) {
        yield row
        continue
      }
      const { cells, control } = cellsOf(row)
      if (control !== undefined)
        throw new UnreadableFile(`the header ${reasonOf(control)}`, row.line)
      header = readHeader(cells, schema, delimiter)
      onHeader?.(Buffer.from(row.raw).toString('utf8'))
    }
  }
  const read = (): readonly Column[] => {
    if (header === undefined) throw new UnreadableFile('is empty; CSV starts with a header line')
    return header
  }
  return {
    split: (chunk) => afterHeader(rows.split(chunk)),
    end: function* () {
      yield* afterHeader(rows.end())
      read()
    },
    parse: (row) => {
      const columns = read()
      const { cells, control } = cellsOf(row)
      if (cells.every((cell) => cell === '')) {
        onBlankRow?.()
        return undefined
      }
      if (cells.length !== columns.length) {
        return { ...row, code: 'malformed', reason: otherLength(cells, columns) }
      }
      if (control !== undefined) {
        return { ...row, code: 'malformed', reason: reasonOf(control, columns[control.at]) }
      }
      return { ...row, value: nest(columns, cells, schema, nullText) }
    },
  }
}

const otherLength = (cells: readonly string[], columns: readonly Column[]): string =>
  `has ${counted(cells.length, 'cell')}, the header has ${columns.length}`

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
