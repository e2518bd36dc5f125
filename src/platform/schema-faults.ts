import type { TSchema } from 'typebox'
import { Errors } from 'typebox/schema'
import { printable } from '../values/printable.ts'

/** What is wrong with a value: where, as in `grants[0]`, and the rest of the sentence. */
export type SchemaFault = { readonly at: string; readonly reason: string }

/**
 * A part of a schema. A part without a `reason` has its fault reported by the part around it. An
 * object that is called something refuses each unknown member by its name.
 */
type SchemaPart = {
  readonly reason?: string
  readonly called?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
}

/** Every fault of a value, each once. The reasons stand in the schema. */
export function schemaFaults(schema: TSchema, given: unknown): readonly SchemaFault[] {
  const [, errors] = Errors(schema, given)
  const faults = errors.flatMap(({ keyword, instancePath, params }) => {
    const path = pathOf(instancePath)
    const { requiredProperties = [], additionalProperties = [] } = params as Names
    if (keyword === 'required') {
      return requiredProperties.map((name) => faultAt(schema, [...path, name]))
    }
    const { called } = partsAt(schema, path).at(-1)?.part ?? {}
    if (keyword !== 'additionalProperties' || called === undefined) return faultAt(schema, path)
    return additionalProperties.map((name) => ({
      at: placeOf(path),
      reason: `has ${printable(name)}, which is not a member of ${called}`,
    }))
  })
  const unique = new Map(faults.map((fault) => [`${fault.at} ${fault.reason}`, fault]))
  return [...unique.values()]
}

type Names = {
  readonly requiredProperties?: readonly string[]
  readonly additionalProperties?: readonly string[]
}

/** The reason of the innermost part that has one, and the place of that part. */
function faultAt(schema: TSchema, path: readonly string[]): SchemaFault {
  const found = partsAt(schema, path).findLast(({ part }) => part.reason !== undefined)
  return { at: found?.at ?? '', reason: found?.part.reason ?? 'is not of its form' }
}

/** The schema and the parts of it along a path. A part that no schema describes ends them. */
function partsAt(schema: TSchema, path: readonly string[]) {
  const parts: { readonly part: SchemaPart; readonly at: string }[] = [{ part: schema, at: '' }]
  for (const [depth, name] of path.entries()) {
    const { items, properties = {} } = parts.at(-1)?.part ?? {}
    const part = items ?? (Object.hasOwn(properties, name) ? properties[name] : undefined)
    if (part === undefined) break
    parts.push({ part, at: placeOf(path.slice(0, depth + 1)) })
  }
  return parts
}

const placeOf = (path: readonly string[]): string =>
  path.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${printable(name)}`)).join('')

/** The names along a JSON pointer (RFC 6901 section 4). */
export const pathOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
