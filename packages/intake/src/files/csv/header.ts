import { closest, printable } from '@bursar/base'
import type { TSchema } from 'typebox'
import { UnreadableFile } from '../reading/lines.ts'

/** A column: where its cells go in a record, and the schema of the member there. */
export type Column = { readonly path: readonly string[]; readonly schema: SchemaNode }

export type SchemaNode = {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
}

/** Reads the header. Its faults are reported once, for the file, instead of once for each row. */
export function readHeader(
  header: readonly string[],
  schema: TSchema,
  delimiter: string,
): readonly Column[] {
  if (header.length === 1 && /[,;\t|]/.test(header[0] ?? '')) {
    const by = delimiter === ',' ? 'commas' : `--delimiter ${printable(delimiter)}`
    throw new UnreadableFile(
      `the header is one column; cells must be separated by ${by}; --delimiter names another character`,
      1,
    )
  }
  const names = new Set<string>()
  for (const name of header) {
    if (!names.has(name)) names.add(name)
    else throw new UnreadableFile(`the header names the column ${printable(name)} twice`, 1)
  }
  const found = header.map((name) => columnOf(name, schema as SchemaNode))
  const columns = found.filter((column) => column !== undefined)
  if (columns.length < found.length) {
    const unknown = header.filter((_name, at) => found[at] === undefined)
    const shown = unknown.slice(0, NAMES_SHOWN).map((name) => {
      const meant = meantBy(name, schema as SchemaNode)
      const hint = meant === undefined ? '' : ` (did you mean ${printable(meant)}?)`
      return `${printable(name) || '(no name)'}${hint}`
    })
    const rest = unknown.length > NAMES_SHOWN ? ` and ${unknown.length - NAMES_SHOWN} more` : ''
    throw new UnreadableFile(
      `the header has columns that are no member: ${shown.join(', ')}${rest}`,
      1,
    )
  }
  refuseParents(columns)
  return columns
}

const NAMES_SHOWN = 10

/** Undefined if the schema has no such member. The text after `metadata.` is one key. */
function columnOf(name: string, schema: SchemaNode): Column | undefined {
  const path: string[] = []
  let [rest, node] = [name, schema]
  while (node.patternProperties === undefined) {
    const dot = rest.indexOf('.')
    const member = dot < 0 ? rest : rest.slice(0, dot)
    const child = childOf(node, member)
    if (child === undefined) return undefined
    path.push(member)
    if (dot < 0) return { path, schema: child }
    ;[rest, node] = [rest.slice(dot + 1), child]
  }
  return { path: [...path, rest], schema: {} }
}

/** The name with its first unknown member replaced by the one that was probably meant. */
function meantBy(name: string, schema: SchemaNode): string | undefined {
  const members = name.split('.')
  let node: SchemaNode | undefined = schema
  for (const [at, member] of members.entries()) {
    const child: SchemaNode | undefined = childOf(node, member)
    if (child !== undefined) {
      node = child
      continue
    }
    const meant = closest(member, Object.keys(node.properties ?? {}))
    return meant && [...members.slice(0, at), meant, ...members.slice(at + 1)].join('.')
  }
  return undefined
}

function childOf({ properties, items }: SchemaNode, member: string): SchemaNode | undefined {
  if (items !== undefined && /^\d{1,9}$/.test(member)) return items
  return properties !== undefined && Object.hasOwn(properties, member)
    ? properties[member]
    : undefined
}

function refuseParents(columns: readonly Column[]): void {
  const keyOf = (path: readonly string[]) => JSON.stringify(path)
  const parents = new Set(
    columns.flatMap(({ path }) => path.slice(1).map((_, at) => keyOf(path.slice(0, at + 1)))),
  )
  const parent = columns.find(({ path }) => parents.has(keyOf(path)))
  if (parent === undefined) return
  const name = printable(parent.path.join('.'))
  throw new UnreadableFile(`the header has ${name} both as a column and with members`, 1)
}
