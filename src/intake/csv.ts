import { compose } from 'node:stream'
import { parse } from 'csv-parse'
import type { TSchema } from 'typebox'
import { limits } from '../platform/limits.ts'
import { type Entry, UnreadableFile } from './lines.ts'

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
    utf8Only(chunks),
    parse({
      bom: true,
      info: true,
      skip_empty_lines: true,
      // Otherwise the parser stops at a row of another length instead of reporting it as a fault.
      relax_column_count: true,
      max_record_size: limits.recordBytesMax,
    }),
  )
  let header: readonly string[] | undefined
  try {
    for await (const { record: cells, info } of parser as AsyncIterable<CsvRow>) {
      const line = info.lines
      if (header === undefined) header = checkedHeader(cells, schema)
      else if (cells.length === header.length) yield { line, value: nest(header, cells, schema) }
      else yield { line, reason: `has ${cells.length} cells, the header has ${header.length}` }
    }
  } catch (error) {
    throw error instanceof UnreadableFile ? error : new UnreadableFile((error as Error).message)
  }
}

type CsvRow = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/** Refuses other encodings, which would otherwise import with wrong letters. */
async function* utf8Only(chunks: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (error) {
    throw error instanceof TypeError ? new UnreadableFile('is not UTF-8') : error
  }
}

/** Reports a fault of the header once, for the file, instead of once for each row. */
function checkedHeader(header: readonly string[], schema: TSchema): readonly string[] {
  if (header.length === 1 && /[;\t|]/.test(header[0] ?? '')) {
    throw new UnreadableFile('the header is one column; cells must be separated by commas', 1)
  }
  const twice = header.find((column, at) => header.indexOf(column) !== at)
  if (twice !== undefined) throw new UnreadableFile(`the header names the column ${twice} twice`, 1)
  const members = Object.keys((schema as SchemaNode).properties ?? {})
  const unknown = header.filter((column) => !members.includes(column.split('.', 1)[0] ?? ''))
  if (unknown.length > 0) {
    throw new UnreadableFile(`the header has columns that are no member: ${unknown.join(', ')}`, 1)
  }
  const parent = header.find((column) => header.some((other) => other.startsWith(`${column}.`)))
  if (parent !== undefined) {
    throw new UnreadableFile(`the header has ${parent} both as a column and with members`, 1)
  }
  return header
}

type Node = { [member: string]: Node | string | number | null }

function nest(header: readonly string[], cells: readonly string[], schema: TSchema): unknown {
  const root: Node = Object.create(null)
  for (const [at, column] of header.entries()) {
    const cell = cells[at] ?? ''
    if (cell !== '') place(root, column.split('.'), cell, schema as SchemaNode)
  }
  return shape(root, schema as SchemaNode)
}

type SchemaNode = {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
}

function place(parent: Node, path: readonly string[], cell: string, schema: SchemaNode): void {
  const [member = '', ...rest] = path
  // The keys of metadata are free text, so a dot belongs to the key.
  const isFreeKey = schema.patternProperties !== undefined
  if (isFreeKey || rest.length === 0) {
    parent[isFreeKey ? path.join('.') : member] = typed(cell, schema.properties?.[member])
    return
  }
  const child = parent[member]
  const node: Node = typeof child === 'object' && child !== null ? child : Object.create(null)
  parent[member] = node
  place(node, rest, cell, schema.properties?.[member] ?? schema.items ?? {})
}

function typed(cell: string, schema: SchemaNode | undefined): string | number | null {
  const types = [schema?.type ?? 'string'].flat()
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
