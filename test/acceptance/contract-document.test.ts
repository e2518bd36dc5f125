import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import document from '../../src/verify/contract.json' with { type: 'json' }
import { membersOf, type ObjectNode, type ShapeNode } from '../../src/verify/shape.ts'

/**
 * The document of `bursar verify` is written by hand from the contract, and openapi.json is
 * generated from the declarations. A difference is a fault in one of the two.
 */

type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly pattern?: string
  readonly format?: string
  readonly maxItems?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly maxProperties?: number
}
type Parameter = { readonly name: string; readonly required?: boolean; readonly schema: Schema }
type Operation = {
  readonly security: object
  readonly parameters: readonly Parameter[]
  readonly responses: {
    readonly 200: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  }
}

const openApi: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
} = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

const objects: Readonly<Record<string, ObjectNode>> = document.objects
const shapes: Readonly<Record<string, ShapeNode>> = { ...document.values, ...objects }

for (const [name, list] of Object.entries(document.lists)) {
  test(`the contract of the ${name} is that of openapi.json`, () => {
    const operation = operationAt(list.path, 'get')
    assert.deepEqual(operation.security, [{ oauth2: [list.scope] }])
    const { parameters } = operation
    const filters = { ...list.filters, ...list.additions }
    const known = [
      'limit',
      'order',
      'page_cursor',
      ...Object.keys(filters),
      ...Object.entries(list.bounds).flatMap(([prefix, sides]) =>
        sides.map((side) => `${prefix}.${side}`),
      ),
      ...('takesOrderBy' in list ? ['order_by'] : []),
      ...('deletedFlag' in list ? [list.deletedFlag] : []),
      ...('requiredParameter' in list ? [list.requiredParameter] : []),
    ]
    assert.deepEqual(parameters.map((each) => each.name).toSorted(), known.toSorted())
    const required = parameters.filter((each) => each.required === true).map((each) => each.name)
    assert.deepEqual(required, 'requiredParameter' in list ? [list.requiredParameter] : [])
    const schemaOf = (name: string) => parameters.find((each) => each.name === name)?.schema
    const { maximum: max, default: initial } = schemaOf('limit') ?? {}
    assert.deepEqual({ default: initial, max }, document.pageSize)
    for (const filter of Object.keys(filters)) {
      const schema = schemaOf(filter)
      const isOnce = 'givenOnce' in list && list.givenOnce.includes(filter)
      const entriesMax = schema?.type === 'array' ? schema.maxItems : 1
      assert.equal(entriesMax, isOnce ? 1 : list.entriesMax, filter)
      const isEnum = 'enums' in list && list.enums.includes(filter)
      assert.equal(resolved(schema?.items).enum !== undefined, isEnum, filter)
    }
    const page = resolved(answerOf(operation)).properties?.[list.envelope]
    compare(list.shape, resolved(page).items, name)
  })
}

for (const [name, { shape }] of Object.entries(document.reads)) {
  test(`the contract of one of the ${name} is that of openapi.json`, () => {
    const list = Object.entries(document.lists).find(([each]) => each === name)
    compare(shape, answerOf(operationAt(`${list?.[1].path}/{id}`, 'get')), name)
  })
}

test('the contract of the withdrawal fee is that of openapi.json', () => {
  const { path, scope, shape } = document.fee
  const operation = operationAt(path, 'post')
  assert.deepEqual(operation.security, [{ oauth2: [scope] }])
  compare(shape, answerOf(operation), 'fee')
})

function operationAt(path: string, method: string): Operation {
  const operation = openApi.paths[path]?.[method]
  assert.ok(operation, `${method} ${path}`)
  return operation
}

const answerOf = ({ responses }: Operation) => responses[200].content['application/json']?.schema

function resolved(schema: Schema = {}): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : resolved(openApi.components.schemas[name])
}

/** Compares members, requirements, vocabularies, patterns and limits, down to the last member. */
function compare(node: ShapeNode, schema: Schema | undefined, at: string): void {
  const actual = resolved(schema)
  if (typeof node === 'string') compareNamed(node, actual, at)
  else if ('stated' in node) compare(node.settled, actual, at)
  else if ('enum' in node) assert.deepEqual(actual.enum, node.enum, at)
  else if ('identifier' in node) assert.equal(actual.type, 'string', at)
  else if ('amount' in node) assert.equal(actual.pattern, node.amount, at)
  else if ('pairsMax' in node) assert.equal(actual.maxProperties, node.pairsMax, at)
  else {
    const { required, expected, optional } = membersOf(node, objects)
    const members = Object.entries({ ...optional, ...expected, ...required })
    const properties = actual.properties ?? {}
    assert.deepEqual(
      Object.keys(properties).toSorted(),
      members.map(([name]) => name).toSorted(),
      at,
    )
    const always = Object.keys({ ...required, ...expected })
    assert.deepEqual(actual.required?.toSorted() ?? [], always.toSorted(), at)
    for (const [name, inner] of members) compare(inner, properties[name], `${at}.${name}`)
  }
}

function compareNamed(name: string, schema: Schema, at: string): void {
  const own = shapes[name]
  if (name.endsWith('[]')) compare(name.slice(0, -'[]'.length), schema.items, `${at}[]`)
  else if (name.endsWith(' or null')) {
    // The service may do without a null that the contract allows.
    const [some, none] = schema.anyOf ?? [schema, { type: 'null' }]
    assert.deepEqual(none, { type: 'null' }, at)
    compare(name.slice(0, -' or null'.length), some, at)
  } else if (own !== undefined) compare(own, schema, at)
  else if (name === 'date-time') assert.equal(schema.format, name, at)
  else assert.equal(schema.type, name.endsWith('text') ? 'string' : 'object', at)
}
