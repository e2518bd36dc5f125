import type { TSchema } from 'typebox'

/**
 * The schema as a document shows it: without the reasons of our faults, and open to members that a later version adds,
 * as change within `/v2` is additive. Two spellings are made plainer for the generators of clients: an enum says that
 * it is of strings, and a map says so by `additionalProperties`, where they look for it.
 */
export function plainSchema(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === 'reason' || (key === 'additionalProperties' && value === false)) return undefined
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value.enum)) return { type: 'string', ...value }
      if (value.patternProperties === undefined) return value
      const { patternProperties, ...map } = value
      const [values] = Object.values(patternProperties)
      return { ...map, additionalProperties: values }
    }),
  )
}
