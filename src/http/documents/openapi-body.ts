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

/** What operations with a body may answer besides what every operation may. */
export const bodyProblems = {
  quote: {
    413: 'The body has more than 16 KiB.',
    429: 'Too many requests, or too many open quotes; wait as Retry-After says.',
    503: 'No fee can be guaranteed now; try again as Retry-After says.',
  },
  consume: {
    404: 'There is no such fee of this customer.',
    409: 'The fee is another withdrawal’s, was quoted for other figures, or has expired.',
    413: 'The body has more than 16 KiB.',
  },
} as const
