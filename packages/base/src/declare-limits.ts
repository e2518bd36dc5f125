/**
 * A limit stands beside the file that uses it, with its reason; those of several files in
 * `limits.ts` of their package. Each has a name of its own, by which a test reads and sets it.
 */
const declared = new Map<string, { [name: string]: number }>()
const given = new Map<string, number>()

export function limitsOf<Name extends string>(
  values: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const own: Record<Name, number> = { ...values }
  for (const name of Object.keys(own) as Name[]) {
    if (declared.has(name)) throw new Error(`two limits are called ${name}`)
    declared.set(name, own)
    const value = given.get(name)
    if (value !== undefined) own[name] = value
  }
  return own
}

/** Throws for a limit that no loaded file declares. */
export function limitNamed(name: string): number {
  const value = declared.get(name)?.[name]
  if (value === undefined) throw new Error(`no file that is loaded has a limit ${name}`)
  return value
}

/** Sets a limit, which may be declared later. Only what reads it at its use follows. */
export function setLimit(name: string, value: number): void {
  given.set(name, value)
  const own = declared.get(name)
  if (own !== undefined) own[name] = value
}
