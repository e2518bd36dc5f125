/** JSON whose numbers are still their own source text, so that no fee rate ever passes through a float. */
export type ExactJson =
  | null
  | boolean
  | string
  | readonly ExactJson[]
  | { readonly [member: string]: ExactJson }

type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown

/** Throws a SyntaxError where the text is no JSON. `[1e-5]` gives `['1e-5']`. */
export function parseExactJson(text: string): ExactJson {
  // The third argument of a reviver is newer than the library's types for it (ECMAScript 2026).
  const reviver: Reviver = (_key, value, context) =>
    typeof value === 'number' ? context.source : value
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
}

/** The value at a path of members and indexes; undefined where there is none. */
export function at(json: ExactJson | undefined, ...path: readonly string[]): ExactJson | undefined {
  let found = json
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Readonly<Record<string, ExactJson>>)[step]
  }
  return found
}
