/** What a store of records must do, in memory. It shares no code with the program. */

export type Content = Readonly<Record<string, string | number>>

/**
 * One version. `at` is a time at which it was in force, and every version before it was not. A
 * record of a kind without deletions is withdrawn where it is `deleted`.
 */
type Version = { readonly at: bigint; readonly content: Content; readonly deleted: boolean }

export type Kind = {
  readonly canDelete: boolean
  /** Members by which the kind's list is filtered, each with the parameter that does it. */
  readonly filters: Readonly<Record<string, string>>
}

export type Verdict = 'added' | 'changed' | 'unchanged' | 'refused'

export type Query = {
  readonly filters: Readonly<Record<string, readonly string[]>>
  readonly order: 'ASC' | 'DESC'
  readonly includeDeleted: boolean
}

/** The records of one customer and one kind. */
export class Model {
  readonly #kind: Kind
  readonly #versions = new Map<string, Version[]>()

  constructor(kind: Kind) {
    this.#kind = kind
  }

  ids(): readonly string[] {
    return [...this.#versions.keys()]
  }

  /** The versions of a record, oldest first. */
  versions(id: string): readonly Version[] {
    return this.#versions.get(id) ?? []
  }

  at(id: string, instant: bigint): Version | undefined {
    return this.versions(id).findLast(({ at }) => at <= instant)
  }

  /** A time from which on the records are known. Undefined while there is none. */
  keptSince(): bigint | undefined {
    const [first] = [...this.#versions.values()]
      .map(([version]) => version?.at ?? 0n)
      .toSorted((a, b) => (a < b ? -1 : 1))
    return first
  }

  /** What a record would do to the store. `deleted` undefined keeps a deletion. */
  judge(content: Content, deleted: boolean | undefined): Verdict {
    const current = this.versions(String(content.id)).at(-1)
    const others = this.ids().filter((id) => id !== content.id)
    const isTaken = others.some(
      (id) => content.ref_id !== undefined && this.#last(id).content.ref_id === content.ref_id,
    )
    if (isTaken) return 'refused'
    if (current === undefined) return 'added'
    if (content.created_at !== current.content.created_at) return 'refused'
    if (isOlder(content, current.content)) return 'refused'
    const isDeleted = this.#becomesDeleted(current, deleted)
    const same = JSON.stringify(sorted(content)) === JSON.stringify(sorted(current.content))
    return same && isDeleted === current.deleted ? 'unchanged' : 'changed'
  }

  /** Stores what `judge` has not refused. */
  store(content: Content, deleted: boolean | undefined, at: bigint): void {
    const versions = this.#versions.get(String(content.id)) ?? []
    versions.push({ at, content, deleted: this.#becomesDeleted(versions.at(-1), deleted) })
    this.#versions.set(String(content.id), versions)
  }

  /** A copy, to try several records on, of which one may be refused. */
  copy(): Model {
    const copy = new Model(this.#kind)
    for (const [id, versions] of this.#versions) copy.#versions.set(id, [...versions])
    return copy
  }

  /** The whole list at an instant, in its order. */
  list({ filters, order, includeDeleted }: Query, instant: bigint): readonly Version[] {
    const found = this.ids().flatMap((id) => this.at(id, instant) ?? [])
    const shown = found.filter(
      ({ content, deleted }) =>
        (includeDeleted || !deleted) &&
        Object.entries(filters).every(([member, values]) =>
          values.includes(String(content[member])),
        ),
    )
    const key = ({ content }: Version) => `${content.created_at} ${content.id}`
    const ascending = shown.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
    return order === 'ASC' ? ascending : ascending.toReversed()
  }

  /** The ids of the records that have a value now, and are neither deleted nor withdrawn. */
  holders(member: string, value: unknown): readonly string[] {
    return this.ids().filter((id) => {
      const { content, deleted } = this.#last(id)
      return !deleted && content[member] === value
    })
  }

  /** A put of a record mentions no withdrawal, and ends one. */
  #becomesDeleted(current: Version | undefined, deleted: boolean | undefined): boolean {
    return deleted ?? (this.#kind.canDelete && (current?.deleted ?? false))
  }

  #last(id: string): Version {
    const last = this.versions(id).at(-1)
    if (last === undefined) throw new Error(`the model has no ${id}`)
    return last
  }
}

/** The version number decides where the stored record has one; a record without one is older. */
function isOlder(content: Content, stored: Content): boolean {
  if (stored.source_version === undefined) return false
  return Number(content.source_version ?? -1) < Number(stored.source_version)
}

const sorted = (content: Content) =>
  Object.entries(content).toSorted(([one], [other]) => (one < other ? -1 : 1))

/** A generator of numbers that a seed repeats (mulberry32). */
export function seeded(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (limit: number): number => next() % limit
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T
  return { below, pick, chance: (percent: number) => below(100) < percent }
}

export type Seeded = ReturnType<typeof seeded>
