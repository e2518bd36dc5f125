import type { Body } from '../../contract/operation.ts'
import { plainSchema } from './plain-schema.ts'

/**
 * A declared body as OpenAPI shows it: open to members that are not named, which are ignored. That exactly one of two is
 * given stands in their descriptions: a `oneOf` of bare requirements makes types out of nothing in generated clients.
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
