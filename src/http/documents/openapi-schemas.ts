import type { TSchema } from 'typebox'
import type { Body } from '../../contract/operation.ts'

/**
 * The schema as a document shows it: without the reasons of faults, and open to members that a
 * later version adds, since change within `/v2` is additive. Client generators need two spellings:
 * an enum states `type: string`, and a map states its values by `additionalProperties`.
 */
export function plainSchema(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      // A member of that name is an object.
      if (key === 'reason' && typeof value === 'string') return undefined
      if (key === 'additionalProperties' && value === false) return undefined
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value.enum)) return { type: 'string', ...value }
      if (value.patternProperties === undefined) return value
      const { patternProperties, ...map } = value
      const [values] = Object.values(patternProperties)
      return { ...map, additionalProperties: values }
    }),
  )
}

/**
 * A declared body as OpenAPI shows it. That exactly one of two members is given stands in their
 * descriptions, because client generators turn a `oneOf` of bare requirements into empty types.
 */
export function requestBody({ members, required }: Body): object {
  const properties = Object.entries(members).map(([name, { schema, description }]) => [
    name,
    { ...(plainSchema(schema) as object), ...(description !== undefined && { description }) },
  ])
  return {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required,
          properties: Object.fromEntries(properties),
        },
      },
    },
  }
}
