/** JSON whose numbers keep their source text, so that no fee rate passes through a float. */
export type ExactJson =
  | null
  | boolean
  | string
  | readonly ExactJson[]
  | { readonly [member: string]: ExactJson }

type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown

/** Throws a SyntaxError for invalid JSON. `[1e-5]` gives `['1e-5']`. */
export function parseExactJson(text: string): ExactJson {
  // TypeScript's library types lack the third argument of a reviver (ECMAScript 2026).
  const reviver: Reviver = (_key, value, context) =>
    typeof value === 'number' ? context.source : value
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
}

/** The value at a path of members and indexes, or undefined. */
export function at(json: ExactJson | undefined, ...path: readonly string[]): ExactJson | undefined {
  let found = json
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Readonly<Record<string, ExactJson>>)[step]
  }
  return found
}
