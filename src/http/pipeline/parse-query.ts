import { type ParameterFault, Problem } from '../../contract/problem.ts'

/** The values by parameter, in order; undefined where percent escapes are not UTF-8. */
export type RawQuery = ReadonlyMap<string, readonly (string | undefined)[]>

/** Decodes a form-encoded query; `ids[]` and `ids[0]` mean `ids`. A NUL anywhere is a 400. */
export function parseQuery(rawQuery: string): RawQuery {
  const values = new Map<string, (string | undefined)[]>()
  if (rawQuery === '') return values
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue
    const cut = pair.indexOf('=')
    const name = decode(cut < 0 ? pair : pair.slice(0, cut))?.replace(/\[\d*\]$/, '')
    const value = cut < 0 ? '' : decode(pair.slice(cut + 1))
    if (name === undefined) continue
    if (name.includes('\u0000') || value?.includes('\u0000')) {
      throw invalidParameters([{ parameter: 'query', reason: 'must not contain a NUL' }])
    }
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
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
