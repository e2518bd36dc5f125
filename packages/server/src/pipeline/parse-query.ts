import { attempt, limitsOf } from '@bursar/base'
import { contractLimits, echo, invalidParameters } from '@bursar/contract'

const limits = limitsOf({
  /** Pairs of a query: three filters with 1,000 entries, and every other parameter. */
  parametersMax: 3100,
  /** A value of 200 characters, each of four bytes, needs 2,400 characters with its escapes. */
  valueLengthMax: 2400,
  /** The longest name of a parameter has 19 characters; each may be three when encoded. */
  parameterNameLengthMax: 100,
})

/** The values by declared parameter, in order and not decoded: most of a hostile query is noise. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

export type ParsedQuery = {
  readonly values: RawQuery
  /** Names of unknown parameters, at most `contractLimits.ignoredNamesMax`, safe in a header. */
  readonly ignored: readonly string[]
}

/**
 * Splits a form-encoded query. `ids[]` and `ids[0]` mean `ids`, and `created_at[gte]` means
 * `created_at.gte`, as clients of other stacks serialise them. A NUL anywhere is a 400.
 */
export function parseQuery(rawQuery: string, declared: Declared): ParsedQuery {
  const values = new Map<string, string[]>()
  const unknown = new Set<string>()
  if (rawQuery === '') return { values, ignored: [] }
  const most = limits.parametersMax
  const pairs = rawQuery.split('&', most + 1)
  if (pairs.length > most) throw invalidQuery('too_many', `must have at most ${most} parameters`)
  if (rawQuery.includes('%00')) throw invalidQuery('nul', 'must not contain a NUL')
  for (const pair of pairs) {
    const cut = pair.indexOf('=')
    const given = cut < 0 ? pair : pair.slice(0, cut)
    const name = declaredName(given, declared)
    if (name === undefined) {
      if (given !== '' && unknown.size < contractLimits.ignoredNamesMax) unknown.add(cutName(given))
      continue
    }
    const value = cut < 0 ? '' : pair.slice(cut + 1)
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return { values, ignored: [...new Set([...unknown].map(safeName))] }
}

const invalidQuery = (code: 'nul' | 'too_many', reason: string) =>
  invalidParameters([{ parameter: 'query', code, reason }])

type Declared = Readonly<Record<string, unknown>>

/** The declared parameter that a name in a query means; undefined for an unknown one. */
function declaredName(given: string, declared: Declared): string | undefined {
  if (Object.hasOwn(declared, given)) return given
  // Most unknown names need no decoding, and there may be thousands.
  if (given.length > limits.parameterNameLengthMax || !/[%[]/.test(given)) return undefined
  // Declared names are ASCII. The pattern spares the cost of decoding that fails.
  if (!asciiEscapes.test(given)) return undefined
  const name = decodeURIComponent(given)
  if (Object.hasOwn(declared, name)) return name
  const [, parameter = '', key = ''] = /^([\w.]+)\[(\w*)\]$/.exec(name) ?? []
  const meant = /^\d*$/.test(key) ? parameter : `${parameter}.${key}`
  return Object.hasOwn(declared, meant) ? meant : undefined
}

const asciiEscapes = /^(?:[^%]|%[0-7][\da-fA-F])*$/

/** Leaves room for as many characters as an echo has, each percent-encoded. */
const cutName = (given: string): string => given.slice(0, 3 * limits.parameterNameLengthMax)

/** A name for a header whose value is a list of names. */
const safeName = (given: string): string =>
  echo(decodeValue(given) ?? given).replace(/[^!-+\--~]/g, '?') || '?'

/**
 * Decodes a value; undefined where its percent escapes are not UTF-8. One that every field refuses
 * for its length, decoded or not, stays as it is.
 */
export function decodeValue(raw: string): string | undefined {
  if (raw.length > limits.valueLengthMax) return raw
  const text = raw.replace(/\+/g, ' ')
  return text.includes('%') ? attempt(() => decodeURIComponent(text)) : text
}
