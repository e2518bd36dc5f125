import { isDeepStrictEqual } from 'node:util'
import document from '../../packages/verify/src/contract.json' with { type: 'json' }
import { filtersOf, type List, lists, pageSize } from '../../packages/verify/src/contract.ts'
import {
  membersOf,
  named,
  type ObjectNode,
  type ShapeNode,
} from '../../packages/verify/src/shape.ts'

/**
 * The contract, which packages/verify/src/contract.json states by hand, in a notation that tests
 * compare with the declarations and with openapi.json.
 */

/** The type of each member; `!` after a name marks a required one. */
export type Fields = { readonly [name: string]: string | Fields }

const objects: Readonly<Record<string, ObjectNode>> = document.objects
const nodes: Readonly<Record<string, ShapeNode>> = { ...document.values, ...objects }

function fieldsOf(node: ShapeNode): string | Fields {
  if (typeof node === 'string') return fieldsOfName(node)
  if ('stated' in node) return fieldsOf(node.settled)
  if ('enum' in node) return node.enum.join('|')
  if ('identifier' in node) {
    return node.is.includes('UUID') ? 'string uuid' : `string ${node.identifier}`
  }
  if ('amount' in node) return `string ${node.amount}`
  if ('pairsMax' in node) return `map<=${node.pairsMax} of string<=${node.lengthMax}`
  const { required, expected, optional } = membersOf(node, objects)
  return Object.fromEntries([
    ...Object.entries({ ...expected, ...required }).map(([name, inner]) => [
      `${name}!`,
      fieldsOf(inner),
    ]),
    ...Object.entries(optional).map(([name, inner]) => [name, fieldsOf(inner)]),
  ])
}

function fieldsOfName(name: string): string | Fields {
  if (name.endsWith('[]')) {
    const each = fieldsOf(name.slice(0, -'[]'.length))
    return typeof each === 'string' ? `array of ${each}` : { '[]': 'array', ...each }
  }
  if (name === 'date-time') return 'string date-time'
  if (name.endsWith('text')) return 'string'
  // The service does without each null that the contract allows.
  return fieldsOf(named(nodes, name.replace(/ or null$/, '')))
}

/** An object that only tolerates more than the one it extends is no component. */
const isComponent = ([name, { extends: base }]: [string, ObjectNode]): boolean =>
  base === undefined || !isDeepStrictEqual(fieldsOf(name), fieldsOf(base))

/** The objects of the contract, by the names of their components. */
export const contractObjects: Readonly<Record<string, string | Fields>> = Object.fromEntries(
  Object.entries(objects)
    .filter(isComponent)
    .map(([name]) => [name, fieldsOf(name)]),
)

/** The members that a record of the contract always has. */
export function requiredMembers(name: string): string[] {
  const { required, expected } = membersOf(named(objects, name), objects)
  return Object.keys({ ...expected, ...required })
}

export type ContractOperation = {
  readonly scope: string
  /** The component of the record. */
  readonly shape: string
  /** The member of the page, for a list. */
  readonly envelope: string | undefined
  readonly parameters: Readonly<Record<string, string>>
}

/** What every read takes beside the parameters of the contract. */
const addition = { as_of: 'string date-time' } as const

const flagOf = ({ deletedFlag }: List): Readonly<Record<string, string>> =>
  deletedFlag === undefined ? {} : { [deletedFlag]: 'boolean' }

function parametersOf(list: List, shape: string): Readonly<Record<string, string>> {
  const { required, expected, optional } = membersOf(named(objects, shape), objects)
  const members = { ...optional, ...expected, ...required }
  const filters = Object.entries(filtersOf(list)).map(([name, { member, entriesMax }]) => {
    // A filter takes any text, also one that no record can have.
    const type = String(fieldsOf(named(members, member))).replace(/ \^.*$/, '')
    return [name, entriesMax === 1 ? type : `array<=${entriesMax} of ${type}`]
  })
  const { requiredParameter, takesOrderBy } = list
  return {
    ...Object.fromEntries(filters),
    ...Object.fromEntries(Object.keys(list.bounds).map((name) => [name, 'string date-time'])),
    ...flagOf(list),
    ...(requiredParameter !== undefined && { [`${requiredParameter}!`]: 'string' }),
    ...(takesOrderBy && { order_by: 'CREATED_AT = CREATED_AT' }),
    limit: `integer int32 1..${pageSize.max} = ${pageSize.default}`,
    order: 'DESC|ASC = DESC',
    page_cursor: 'string',
    ...addition,
  }
}

/** The read operations by their paths. */
export const contractReads: Readonly<Record<string, ContractOperation>> = Object.fromEntries(
  lists.flatMap((list): [string, ContractOperation][] => {
    const { shape } = named<{ readonly shape: string }>(document.lists, list.name)
    const parameters = parametersOf(list, shape)
    const { path, scope, envelope } = list
    const reads = Object.entries(document.reads).filter(([name]) => name === list.name)
    return [
      [path, { scope, shape, envelope, parameters }],
      ...reads.map(([, read]): [string, ContractOperation] => [
        `${path}/{id}`,
        {
          scope,
          shape: read.shape,
          envelope: undefined,
          parameters: { 'id!': 'string uuid', ...flagOf(list), ...addition },
        },
      ]),
    ]
  }),
)

export const contractFee = document.fee

/** The operations beside those of the contract, by their paths. */
export const contractAdditions = {
  '/v2/events': { scope: 'events:read_event' },
  '/v2/events/{id}': { scope: 'events:read_event' },
} as const
