import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { StoreCorrupted, StoreDamaged } from '../unavailable.ts'
import { shownId } from './stored-rows.ts'

/** A stored record, or a part of the store, that cannot be answered as it was imported. */
export type Damage = {
  readonly kind: string
  /** Absent where a table or an index of the kind is damaged. */
  readonly id?: string
  readonly fault: string
}

/** A damaged record as it was read. The customer is compared and never shown. */
type DamagedRecord = Damage & { readonly customerId: string; readonly id: string }

/**
 * The damage that this process has found and that is not mended yet. While damage of a kind is
 * known, no list of the kind and no unknown id is answered, to any customer: a list could show the
 * damage, and what is not found may be there.
 */
export type DamageList = {
  /**
   * Adds a damaged record and reports it, once. Returns the error for the request that read it.
   * `isMended` reads the record again, and rejects if it cannot.
   */
  note(damage: DamagedRecord, isMended: () => Promise<boolean>): StoreDamaged
  /**
   * Marks a kind whose table or index is damaged. The mark ends when a check of the tables has
   * passed or, where no check ends marks, when `isMended` says so.
   */
  mark(damage: Damage, isMended: () => Promise<boolean>): StoreDamaged
  /** Reads, and marks the kind if the database reports damage; mended is what it can read again. */
  reading<T>(kind: string, read: () => Promise<T>, again?: () => Promise<unknown>): Promise<T>
  /** The error for a list or an unknown id of a kind, while damage of the kind is known. */
  errorOf(kind: string): StoreDamaged | undefined
  /** Throws that error. */
  requireNone(kind: string): void
  /**
   * Call it before the tables are checked, and call what it returns for each kind that has passed:
   * it ends the mark, unless the kind was marked again in between.
   */
  checking(): (kind: string) => void
  /** Damaged records, and marked kinds, which have no id. */
  found(): readonly Damage[]
  /** How often this process has found damage itself. */
  met(): number
  /**
   * How often damage of the kind became known. What was read before may be damaged, even if it is
   * mended now. A damaged customer id may be that of another customer, so it counts for all.
   */
  metIn(kind: string): number
  /**
   * Call it before all records of a kind are compared with their checksums, and call what it
   * returns if that worked. It forgets the damage of the kind that was not listed, unless a read
   * has found more in between.
   */
  comparing(kind: string): () => void
  /** Forgets what has been mended. */
  lookAgain(): Promise<void>
}

type Known = { readonly damage: Damage; readonly isMended: () => Promise<boolean> }

/** The log names no value of a record. */
export function openDamageList(
  log: Logger,
  { checkEndsMarks = false }: { readonly checkEndsMarks?: boolean } = {},
): DamageList {
  const known = new Map<string, Known>()
  const metByKind = new Map<string, number>()
  const count = (kind: string) => metByKind.set(kind, (metByKind.get(kind) ?? 0) + 1)
  const marks = openMarks(log, count)
  /** How often damage of a kind was found that the list had no room for. */
  const unlisted = new Map<string, number>()
  let met = 0
  const errorFor = ({ kind, id, fault }: Damage) =>
    new StoreDamaged(`${kind}${id === undefined ? '' : ` ${id}`}: ${fault}`)
  const listedOf = (kind: string) =>
    [...known.values()].find(({ damage }) => damage.kind === kind)?.damage
  const mark: DamageList['mark'] = (damage, isMended) => {
    if (marks.mark(damage, isMended)) met += 1
    return errorFor(damage)
  }
  const errorOf = (kind: string) => {
    const fault = marks.faultOf(kind)
    if (fault !== undefined) return errorFor({ kind, fault })
    if (known.size === 0 && unlisted.size === 0) return undefined
    const listed = listedOf(kind)
    if (listed !== undefined) return errorFor(listed)
    return unlisted.has(kind) ? errorFor({ kind, fault: 'it has damaged records' }) : undefined
  }
  return {
    checking: marks.checking,
    mark,
    reading: (kind, read, again = read) =>
      read().catch((error: unknown) => {
        if (!(error instanceof StoreCorrupted)) throw error
        const fault = `the store cannot read it: ${error.message}`
        throw mark({ kind, fault }, () => again().then(() => true))
      }),
    errorOf,
    requireNone: (kind) => {
      const error = errorOf(kind)
      if (error !== undefined) throw error
    },
    note({ customerId, ...damage }, isMended) {
      const shown = { ...damage, id: shownId(damage.id) }
      const key = keyOf(customerId, shown.kind, shown.id)
      if (known.has(key)) return errorFor(shown)
      met += 1
      count(shown.kind)
      if (known.size < limits.damageListedMax) {
        known.set(key, { damage: shown, isMended })
        log.error(shown, FOUND)
        return errorFor(shown)
      }
      if (unlisted.size === 0) log.error(MORE)
      unlisted.set(shown.kind, (unlisted.get(shown.kind) ?? 0) + 1)
      return errorFor(shown)
    },
    found: () => [...marks.marked(), ...[...known.values()].map(({ damage }) => damage)],
    met: () => met,
    metIn: (kind) => metByKind.get(kind) ?? 0,
    comparing(kind) {
      const before = unlisted.get(kind)
      return () => {
        if (unlisted.get(kind) === before && listedOf(kind) === undefined) unlisted.delete(kind)
      }
    },
    async lookAgain() {
      if (!checkEndsMarks) await marks.lookAgain()
      for (const [key, { damage, isMended }] of [...known]) {
        // A store that cannot be read has not been mended.
        if (!(await isMended().catch(() => false))) continue
        known.delete(key)
        log.info(damage, 'a damaged record has been mended')
      }
    },
  }
}

type Mark = {
  readonly fault: string
  readonly isMended: () => Promise<boolean>
  count: number
}

const FOUND =
  'a stored record is damaged; requests for it, for lists of its kind and for unknown ids get 503 until it is imported again or restored'
const MORE =
  'more damaged records were found than are listed; `bursar migrate --check` names the first 1,000'
const MARKED =
  'a table of this kind is damaged; lists and unknown ids get 503 until a check of the tables passes, which the server runs in the background; restore a backup'
const PASSED = 'the tables of this kind have passed a check; lists are answered again'

function openMarks(log: Logger, count: (kind: string) => unknown) {
  const marks = new Map<string, Mark>()
  const end = (kind: string, { fault }: Mark) => {
    marks.delete(kind)
    log.info({ kind, fault }, PASSED)
  }
  return {
    /** Returns whether it is new. */
    mark({ kind, fault }: Damage, isMended: Mark['isMended']): boolean {
      const known = marks.get(kind)
      if (known !== undefined) {
        known.count += 1
        return false
      }
      marks.set(kind, { fault, isMended, count: 1 })
      count(kind)
      log.error({ kind, fault }, MARKED)
      return true
    },
    faultOf: (kind: string) => marks.get(kind)?.fault,
    marked: (): readonly Damage[] => [...marks].map(([kind, { fault }]) => ({ kind, fault })),
    checking: () => {
      const before = new Map([...marks].map(([kind, { count }]) => [kind, count]))
      return (kind: string) => {
        const mark = marks.get(kind)
        if (mark !== undefined && before.get(kind) === mark.count) end(kind, mark)
      }
    },
    async lookAgain() {
      for (const [kind, mark] of [...marks]) {
        if (await mark.isMended().catch(() => false)) end(kind, mark)
      }
    },
  }
}

/** A customer may have any name, so the text is one that no two keys share. */
const keyOf = (...key: readonly [customerId: string, kind: string, id: string]): string =>
  JSON.stringify(key)
