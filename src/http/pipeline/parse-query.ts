import { type ParameterFault, Problem } from '../../contract/problem.ts'

/** The values by declared parameter, in order; undefined where percent escapes are not UTF-8. */
export type RawQuery = ReadonlyMap<string, readonly (string | undefined)[]>

/**
 * Decodes a form-encoded query. `ids[]` and `ids[0]` mean `ids`, and `created_at[gte]` means
 * `created_at.gte`, as clients of other stacks serialise them. A NUL anywhere is a 400.
 */
export function parseQuery(
  rawQuery: string,
  declared: Readonly<Record<string, unknown>>,
): RawQuery {
  const values = new Map<string, (string | undefined)[]>()
  if (rawQuery === '') return values
  if (rawQuery.includes('%00')) {
    throw invalidParameters([{ parameter: 'query', reason: 'must not contain a NUL' }])
  }
  for (const pair of rawQuery.split('&')) {
    const cut = pair.indexOf('=')
    const name = declaredName(decode(cut < 0 ? pair : pair.slice(0, cut)), declared)
    if (name === undefined) continue
    const value = cut < 0 ? '' : decode(pair.slice(cut + 1))
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

/** The declared parameter that a name in a query means; undefined for an unknown one. */
function declaredName(
  name: string | undefined,
  declared: Readonly<Record<string, unknown>>,
): string | undefined {
  if (name === undefined || Object.hasOwn(declared, name)) return name
  const [, parameter = '', key = ''] = /^([\w.]+)\[(\w*)\]$/.exec(name) ?? []
  const meant = /^\d*$/.test(key) ? parameter : `${parameter}.${key}`
  return Object.hasOwn(declared, meant) ? meant : undefined
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
