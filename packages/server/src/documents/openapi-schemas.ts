import assert from 'node:assert/strict'
import { type Body, capitalised } from '@bursar/contract'
import type { TSchema } from 'typebox'

/** The schemas that a document shows once, by name. */
export type Components = Map<string, object>

/**
 * The schema as a document shows it: without the reasons of faults, and open to members that a
 * later version adds, since change within `/v2` is additive. A schema with a name becomes a
 * component and a reference. Client generators need two spellings: an enum states `type: string`,
 * and a map states its values by `additionalProperties`.
 */
export function plainSchema(schema: TSchema, components: Components): object {
  return plain(schema as Node, components)
}

type Node = Readonly<Record<string, unknown>> & {
  readonly component?: { readonly name: string; readonly description?: string }
}

function plain({ component, ...node }: Node, components: Components): object {
  if (component === undefined) return plainKeywords(node, components)
  if (component.description === undefined) {
    return addComponent(component.name, plainKeywords(node, components), components)
  }
  const { description, ...shared } = node
  return {
    ...addComponent(
      component.name,
      { description: component.description, ...plainKeywords(shared, components) },
      components,
    ),
    ...(description !== undefined && { description }),
  }
}

/** Adds a component and returns a reference to it. One name means one schema. */
export function addComponent(name: string, schema: object, components: Components): object {
  assert.deepEqual(components.get(name) ?? schema, schema, `two schemas have the name ${name}`)
  components.set(name, schema)
  return { $ref: `#/components/schemas/${name}` }
}

function plainKeywords(node: Node, components: Components): object {
  const { reason: _, nullIsFault: _fault, ...shown } = node
  const { patternProperties, additionalProperties, ...keywords } = shown
  const inner = (value: unknown): unknown => plain(value as Node, components)
  const [values] = Object.values((patternProperties ?? {}) as Node)
  return {
    ...('enum' in node && { type: 'string' }),
    ...mapped(keywords, {
      properties: (members) => mapped(members as Node, {}, inner),
      items: inner,
      anyOf: (schemas) => (schemas as readonly unknown[]).map(inner),
    }),
    ...(values === undefined
      ? additionalProperties === true && { additionalProperties }
      : { additionalProperties: inner(values) }),
  }
}

type Mapping = (value: unknown) => unknown

const mapped = (
  object: Node,
  byKey: Readonly<Record<string, Mapping>>,
  others: Mapping = (value) => value,
): object =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, (byKey[key] ?? others)(value)]),
  )

/**
 * A declared body as OpenAPI shows it. Where exactly one of two members is given, the body is one
 * of two objects that are written out in full. Bare requirements beside shared members would be
 * exact too. But client generators make empty types of them, and Prism ignores a requirement whose
 * member the same schema does not list.
 */
export function bodySchema(name: string, body: Body, components: Components): object {
  const { members, required, oneOf } = body
  const objectOf = (names: readonly string[], mandatory: readonly string[]): object => ({
    type: 'object',
    ...(body.closed === true && { additionalProperties: false }),
    required: mandatory,
    properties: Object.fromEntries(
      names.map((member) => [member, fieldSchema(members[member], components)]),
    ),
  })
  const names = Object.keys(members)
  if (oneOf === undefined) return addComponent(name, objectOf(names, required), components)
  const branches = oneOf.members.map((chosen) => {
    const shown = names.filter((member) => member === chosen || !oneOf.members.includes(member))
    const others = oneOf.members.filter((member) => member !== chosen).join()
    const description = `A request with \`${chosen}\`, and without \`${others}\`.`
    const branch = { description, ...objectOf(shown, [...required, chosen]) }
    return addComponent(`${name}By${capitalised(chosen)}`, branch, components)
  })
  return addComponent(name, { oneOf: branches }, components)
}

/** The schema of a parameter or body member, with its description. */
function fieldSchema(field: Body['members'][string] | undefined, components: Components): object {
  assert(field !== undefined, 'a body names its own members')
  const { schema, description } = field
  return { ...plainSchema(schema, components), ...(description !== undefined && { description }) }
}
