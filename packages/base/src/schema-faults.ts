import { type TSchema, Type } from 'typebox'
import { Compile, Errors, type Validator } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { baseLimits } from './limits.ts'
import { hintOf } from './values/closest.ts'
import { printable } from './values/printable.ts'

// The library stops at eight faults by default.
Settings.Set({ maxErrors: baseLimits.recordFaultsMax })

/**
 * Compiles a schema at its first use. To compile all of them would take a third of a start, and a
 * server uses few.
 */
export function validatorOf(schema: TSchema): () => Validator {
  let validator: Validator | undefined
  return () => {
    validator ??= Compile(schema)
    return validator
  }
}

/** The members of a schema that faults are explained by. The library knows most of them. */
type SchemaPart = {
  readonly type?: string | readonly string[]
  /** The rest of a sentence that starts with the name of a member. */
  readonly reason?: string
  /** The reason of a member that is missing, and of an unknown member of this object. */
  readonly missing?: string
  readonly unknown?: string
  /** An object that is called something refuses each unknown member by its name. */
  readonly called?: string
  readonly pattern?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly patternProperties?: object
}

/** A part of a schema, and how deep in the value it stands. */
type Placed = { readonly part: SchemaPart; readonly depth: number }

/** One way in which a value breaks a schema. */
export type Violation = {
  /** The schema's, or `unknown` for a member that an object may not have. */
  readonly keyword: string
  /** The names that lead to the member, which may be missing or unknown. */
  readonly path: readonly string[]
  /** The schema and the parts of it along the path, down to the one that is broken. */
  readonly parts: readonly Placed[]
  /** The message of the library. */
  readonly message: string
  readonly limit: number | undefined
}

type SchemaError = {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

type Params = {
  readonly requiredProperties?: readonly string[]
  readonly limit?: number | bigint
}

/**
 * The library's errors, with one violation for each missing and each unknown member. They are
 * complete if there are fewer errors than `baseLimits.recordFaultsMax`.
 */
export const violationsOf = (schema: TSchema, errors: readonly SchemaError[]): Violation[] =>
  errors.flatMap(({ keyword, schemaPath, instancePath, params, message }) => {
    const path = pathOf(instancePath)
    const parts = partsAt(schema, schemaPath)
    const { requiredProperties = [], limit } = params as Params
    const rest = { keyword, message, limit: limit === undefined ? undefined : Number(limit) }
    switch (keyword) {
      case 'required':
        return requiredProperties.map((name) => ({
          ...rest,
          path: [...path, name],
          parts: [...parts, memberOf(parts, name)],
        }))
      // The schema of an unknown member is false.
      case 'boolean':
        return [{ ...rest, keyword: 'unknown', path, parts: parts.slice(0, -1) }]
      // The library has reported the members themselves, and the faults of `else`.
      case 'additionalProperties':
      case 'if':
        return []
      default:
        return [{ ...rest, path, parts }]
    }
  })

function memberOf(parts: readonly Placed[], name: string): Placed {
  const { part, depth } = parts.at(-1) ?? { part: {}, depth: 0 }
  return { part: part.properties?.[name] ?? {}, depth: depth + 1 }
}

/** The reason of the innermost part that has one, and that part's place. */
export const reasonOf = ({ parts }: Violation): Placed | undefined =>
  parts.findLast(({ part }) => part.reason !== undefined)

/** What was probably meant by an unknown member or by a word that an enum lacks. */
export function hintFor({ keyword, path, parts }: Violation, value: unknown): string {
  const part: SchemaPart = parts.at(-1)?.part ?? {}
  if (keyword === 'unknown') return hintOf(path.at(-1), Object.keys(part.properties ?? {}))
  const given = path.reduce<unknown>((whole, name) => Object(whole)[name], value)
  return keyword === 'enum' ? hintOf(given, part.enum?.map(String) ?? []) : ''
}

/** What is wrong with a value: where, as in `grants[0]`, and the rest of the sentence. */
export type SchemaFault = { readonly at: string; readonly reason: string }

/** Every fault of a value, each once. The reasons stand in the schema. */
export function schemaFaults(schema: TSchema, value: unknown): readonly SchemaFault[] {
  const [, errors] = Errors(schema, value)
  const faults = violationsOf(schema, errors).map((violation) => {
    const { keyword, path, parts, message } = violation
    const { called } = parts.at(-1)?.part ?? {}
    if (keyword === 'unknown' && called !== undefined) {
      const reason = `has ${printable(path.at(-1) ?? '')}, which is not a member of ${called}`
      return { at: placeOf(path.slice(0, -1)), reason: `${reason}${hintFor(violation, value)}` }
    }
    if (keyword === '~refine') return { at: placeOf(path), reason: message }
    const { part, depth } = reasonOf(violation) ?? { part: {}, depth: 0 }
    const reason = part.reason ?? 'is not of its form'
    return { at: placeOf(path.slice(0, depth)), reason: `${reason}${hintFor(violation, value)}` }
  })
  return [...new Map(faults.map((fault) => [`${fault.at} ${fault.reason}`, fault])).values()]
}

/** What is wrong with a text of the right form, as the rest of a sentence. */
export type Rule = (text: string) => string | undefined

export const withRule = <S extends TSchema>(schema: S, faultOf: Rule) =>
  Type.Refine(
    schema,
    (text) => faultOf(String(text)) === undefined,
    (text) => faultOf(String(text)) ?? '',
  )

/** The first fault of a text or of a list of texts: of its form, or else by a rule. */
export function firstFault(schema: TSchema, value: unknown): string | undefined {
  const [, errors] = Errors(schema, value)
  const found = violationsOf(schema, errors)
  const ofForm = found.find(({ keyword }) => keyword !== '~refine')
  if (ofForm !== undefined) return `${reasonOf(ofForm)?.part.reason}${hintFor(ofForm, value)}`
  const [byRule] = found
  const [index] = byRule?.path ?? []
  return index === undefined ? byRule?.message : `entry ${Number(index) + 1} ${byRule?.message}`
}

/** The parts of a schema that a pointer leads through, as in `#/properties/grants/items`. */
function partsAt(schema: TSchema, pointer: string): readonly Placed[] {
  const parts: Placed[] = [{ part: schema, depth: 0 }]
  let isName = false
  let node: unknown = schema
  let depth = 0
  for (const step of pathOf(pointer)) {
    node = (node as Readonly<Record<string, unknown>> | undefined)?.[step]
    if (isName || step === 'items') depth += 1
    isName = !isName && /^(properties|patternProperties)$/.test(step)
    if (!isName) parts.push({ part: (node ?? {}) as SchemaPart, depth })
  }
  return parts
}

const placeOf = (path: readonly string[]): string =>
  path.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${printable(name)}`)).join('')

/** The names along a JSON pointer (RFC 6901 section 4). */
const pathOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
