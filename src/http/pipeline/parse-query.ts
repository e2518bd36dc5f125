import { type ParameterFault, Problem } from '../../contract/problem.ts'
import { limits } from '../../platform/limits.ts'

/** The values by parameter, in order and not decoded: most of a hostile query is never read. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

/** Splits a form-encoded query; `ids[]` and `ids[0]` mean `ids`. A NUL anywhere is a 400. */
export function parseQuery(rawQuery: string): RawQuery {
  const values = new Map<string, string[]>()
  if (rawQuery === '') return values
  const most = limits.parametersMax
  const pairs = rawQuery.split('&', most + 1)
  if (pairs.length > most) throw invalidQuery(`must have at most ${most} parameters`)
  if (rawQuery.includes('%00')) throw invalidQuery('must not contain a NUL')
  for (const pair of pairs) {
    if (pair === '') continue
    const cut = pair.indexOf('=')
    const name = nameOf(cut < 0 ? pair : pair.slice(0, cut))
    if (name === undefined) continue
    const value = cut < 0 ? '' : pair.slice(cut + 1)
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

const invalidQuery = (reason: string) => invalidParameters([{ parameter: 'query', reason }])

/** A name without its index. Names are ASCII; the pattern spares the cost of failed decoding. */
function nameOf(raw: string): string | undefined {
  const isPlain = !raw.includes('%')
  if (!isPlain && !asciiEscapes.test(raw)) return undefined
  const name = isPlain ? raw : decodeURIComponent(raw)
  return name.endsWith(']') ? name.replace(/\[\d*\]$/, '') : name
}

const asciiEscapes = /^(?:[^%]|%[0-7][\da-fA-F])*$/

/**
 * Decodes a value; undefined where its percent escapes are not UTF-8. One that every field refuses
 * for its length, decoded or not, stays as it is.
 */
export function decodeValue(raw: string): string | undefined {
  if (raw.length > limits.valueLengthMax) return raw
  const text = raw.replace(/\+/g, ' ')
  try {
    return text.includes('%') ? decodeURIComponent(text) : text
  } catch {
    return undefined
  }
}

/** One 400 for all faults. The reason of an id is a whole sentence by itself. */
export function invalidParameters(faults: readonly ParameterFault[]): Problem {
  const detail = faults
    .map(({ parameter, reason }) => (parameter === 'id' ? reason : `${parameter} ${reason}`))
    .join('; ')
  return new Problem(400, detail, { meta: { errors: faults } })
}
