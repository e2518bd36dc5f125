import assert from 'node:assert/strict'

/**
 * The document as OpenAPI 3.0, for tools that do not read 3.1. Only spellings differ: 3.0 has no
 * `null` type, no `const`, no `examples` of a schema, no number in `exclusiveMinimum`, and it
 * ignores what stands beside a `$ref`.
 */
export function asOpenApi30(document: object): object {
  const { info, ...rest } = document as { readonly info: Node & { readonly license: Node } }
  return {
    ...(converted(rest) as object),
    openapi: '3.0.3',
    info: { ...info, license: { name: info.license.name } },
  }
}

type Node = Readonly<Record<string, unknown>>

/** Values that a caller sends or receives. They are copied, whatever their members are called. */
const values = new Set(['example', 'examples', 'default', 'enum'])

const schemaKeys = new Set(['schema', 'items', 'additionalProperties', 'not'])
const schemaLists = new Set(['oneOf', 'anyOf', 'allOf'])

function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted)
  if (typeof value !== 'object' || value === null) return value
  return mapMembers(value as Node, (inner, key) => {
    if (values.has(key)) return inner
    // The names of members and components are no keywords.
    if (key === 'properties' || key === 'schemas') return mapMembers(inner as Node, convertedSchema)
    if (schemaKeys.has(key)) return convertedSchema(inner)
    return schemaLists.has(key) ? (inner as unknown[]).map(convertedSchema) : converted(inner)
  })
}

const mapMembers = (members: Node, map: (value: unknown, name: string) => unknown): Node =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value, name)]))

function convertedSchema(schema: unknown): unknown {
  // `additionalProperties` may be a boolean.
  if (typeof schema !== 'object') return schema
  const node = schema as Node
  const { $ref, type, const: only, examples, exclusiveMinimum, exclusiveMaximum, ...rest } = node
  const kept = converted(rest) as Node
  if ($ref !== undefined) {
    return Object.keys(kept).length === 0 ? { $ref } : { allOf: [{ $ref }], ...kept }
  }
  const [name, ...others] = [type ?? []].flat().filter((found) => found !== 'null')
  assert.equal(others.length, 0, 'OpenAPI 3.0 has no schema of several types')
  const [example] = (examples ?? []) as readonly unknown[]
  return {
    ...(name !== undefined && { type: name }),
    ...(Array.isArray(type) && type.includes('null') && { nullable: true }),
    ...kept,
    ...(only !== undefined && { enum: [only] }),
    ...(example !== undefined && { example }),
    ...(exclusiveMinimum !== undefined && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum !== undefined && { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  }
}
