import { limits } from '../../platform/limits.ts'
import { isOutOfDescriptors } from '../../platform/machine/exhaustion.ts'
import { StoreDamaged } from '../unavailable.ts'
import { shownId } from './stored-row.ts'

/** A stored record, or a part of the store, that cannot be answered as it was imported. */
export type Damage = {
  readonly kind: string
  /** Absent where the store could not tell which record it failed to read. */
  readonly id?: string
  readonly fault: string
}

/**
 * Damage as it is met. The customer is compared and never shown. It is absent where a part of the
 * store cannot be read, which may hold records of several customers.
 */
type MetDamage = Damage & { readonly customerId?: string }

/**
 * The marks of kinds with damaged tables, with the fault of each, kept where damage of the records
 * cannot remove them.
 */
export type KeptMarks = {
  /** Throws only where the process may open no files. */
  all(): ReadonlyMap<string, string>
  add(kind: string, fault: string): void
  remove(kind: string): void
}

/** The damage that this process has found and that nobody has mended yet. */
export type DamageList = {
  /**
   * Adds damage and reports it, once. Returns the error for the request that met it. `isMended`
   * looks again, and rejects where it cannot tell.
   */
  note(damage: MetDamage, isMended: () => Promise<boolean>): StoreDamaged
  /**
   * Marks a kind whose table or index is damaged, as the database reports. From then on no list and
   * nothing that the database does not find may be answered. The mark ends when a check of the
   * tables has passed or, where marks are not kept, when `isMended` says so. Returns the error for
   * the request.
   */
  mark(damage: Damage, isMended: () => Promise<boolean>): StoreDamaged
  /** The error for a list or a miss of a kind, if it is marked. */
  errorOfKind(kind: string): StoreDamaged | undefined
  /**
   * Call it before the tables are checked, and call what it returns for each kind that has passed:
   * it ends the mark, unless the kind was marked again in between.
   */
  checking(): (kind: string) => void
  /** Damaged records, and marked kinds, which have no id. */
  found(): readonly Damage[]
  /**
   * The error for a record that is known to be damaged. To every other customer its id is unknown,
   * so none can learn that it exists.
   */
  errorOf(customerId: string, kind: string, id: string): StoreDamaged | undefined
  /** How often this process met damage itself. */
  met(): number
  /**
   * How often damage of the kind became known. What was read before may be damaged, even if it is
   * mended now. A damaged customer id may be that of another customer, so it counts for all.
   */
  metIn(kind: string): number
  /** Whether damage of this kind is known, listed or not, or any kind is marked. */
  hasKind(kind: string): boolean
  /**
   * Call it before all records of a kind are verified, and call what it returns if that worked: it
   * forgets the damage of the kind that was not listed, unless more was met in between.
   */
  verifying(kind: string): () => void
  /** Forgets what has been mended, and reads the marks of other processes. */
  lookAgain(): Promise<void>
}

export type DamageReport = {
  readonly onFound: (damage: Damage) => void
  readonly onMended: (damage: Damage) => void
  readonly onMarked: (damage: Damage) => void
  readonly onPassed: (damage: Damage) => void
  /** The mark is in memory only, so a restart would lose it. */
  readonly onUnkept: (error: unknown) => void
  /** The list is full, and there is more damage. */
  readonly onMore: () => void
}

type Known = { readonly damage: Damage; readonly isMended: () => Promise<boolean> }

/** Without `kept`, the marks are in memory only. */
export function openDamageList(report: DamageReport, kept?: KeptMarks): DamageList {
  const { onFound, onMended, onMore } = report
  const known = new Map<string, Known>()
  const metByKind = new Map<string, number>()
  const count = (kind: string) => metByKind.set(kind, (metByKind.get(kind) ?? 0) + 1)
  const marks = openMarks(report, count, kept)
  /** How often damage of a kind was met that the list had no room for. */
  const unlisted = new Map<string, number>()
  let met = 0
  const errorFor = ({ kind, id, fault }: Damage) =>
    new StoreDamaged(`${kind}${id === undefined ? '' : ` ${id}`}: ${fault}`)
  const isListed = (kind: string) => [...known.values()].some((one) => one.damage.kind === kind)
  return {
    checking: marks.checking,
    mark: (damage, isMended) => {
      if (marks.mark(damage, isMended)) met += 1
      return errorFor(damage)
    },
    errorOfKind: (kind) => {
      const fault = marks.faultOf(kind)
      return fault === undefined ? undefined : errorFor({ kind, fault })
    },
    note({ customerId, ...damage }, isMended) {
      const shown = shownDamage(damage)
      const key = keyOf(customerId, shown.kind, shown.id)
      if (known.has(key)) return errorFor(shown)
      met += 1
      count(shown.kind)
      if (known.size < limits.damageListedMax) {
        known.set(key, { damage: shown, isMended })
        onFound(shown)
        return errorFor(shown)
      }
      if (unlisted.size === 0) onMore()
      unlisted.set(shown.kind, (unlisted.get(shown.kind) ?? 0) + 1)
      return errorFor(shown)
    },
    found: () => [...marks.marked(), ...[...known.values()].map(({ damage }) => damage)],
    errorOf(customerId, kind, id) {
      const found = known.get(keyOf(customerId, kind, id))
      return found && errorFor(found.damage)
    },
    met: () => met,
    metIn: (kind) => metByKind.get(kind) ?? 0,
    hasKind: (kind) =>
      marks.marked().length > 0 || unlisted.has(kind) || (known.size > 0 && isListed(kind)),
    verifying(kind) {
      const before = unlisted.get(kind)
      return () => {
        if (unlisted.get(kind) === before && !isListed(kind)) unlisted.delete(kind)
      }
    },
    async lookAgain() {
      await marks.lookAgain()
      for (const [key, { damage, isMended }] of [...known]) {
        // A store that cannot be read has not been mended.
        if (!(await isMended().catch(() => false))) continue
        known.delete(key)
        onMended(damage)
      }
    },
  }
}

type Mark = {
  readonly fault: string
  readonly isMended: () => Promise<boolean>
  readonly isKept: boolean
  count: number
}

function openMarks(
  { onMarked, onPassed, onUnkept }: DamageReport,
  count: (kind: string) => unknown,
  kept: KeptMarks | undefined,
) {
  const marks = new Map<string, Mark>()
  const note = (kind: string, mark: Omit<Mark, 'count'>) => {
    marks.set(kind, { ...mark, count: 1 })
    count(kind)
    onMarked({ kind, fault: mark.fault })
  }
  const keep = (kind: string, fault: string): boolean => {
    try {
      kept?.add(kind, fault)
      return kept !== undefined
    } catch (error) {
      onUnkept(error)
      return false
    }
  }
  const end = (kind: string, { fault }: Mark) => {
    marks.delete(kind)
    onPassed({ kind, fault })
  }
  /** Takes over what other processes, and this one before its start, have marked and ended. */
  const read = () => {
    const all = kept?.all()
    if (all === undefined) return
    for (const [kind, fault] of all) {
      if (!marks.has(kind)) note(kind, { fault, isKept: true, isMended: async () => false })
    }
    for (const [kind, mark] of [...marks]) if (mark.isKept && !all.has(kind)) end(kind, mark)
  }
  /** What is known stays while the process may open no files. */
  const readAgain = () => {
    try {
      read()
    } catch (error) {
      if (!isOutOfDescriptors(error)) throw error
    }
  }
  read()
  return {
    /** Returns whether it is new. The mark is kept before a request is answered. */
    mark({ kind, fault }: Damage, isMended: Mark['isMended']): boolean {
      const known = marks.get(kind)
      if (known === undefined) note(kind, { fault, isMended, isKept: keep(kind, fault) })
      else known.count += 1
      return known === undefined
    },
    faultOf: (kind: string) => marks.get(kind)?.fault,
    marked: (): readonly Damage[] => [...marks].map(([kind, { fault }]) => ({ kind, fault })),
    checking: () => {
      readAgain()
      const before = new Map([...marks].map(([kind, { count }]) => [kind, count]))
      return (kind: string) => {
        const mark = marks.get(kind)
        if (mark === undefined || before.get(kind) !== mark.count) return
        kept?.remove(kind)
        end(kind, mark)
      }
    },
    async lookAgain() {
      readAgain()
      if (kept !== undefined) return
      for (const [kind, mark] of [...marks]) {
        if (await mark.isMended().catch(() => false)) end(kind, mark)
      }
    },
  }
}

/** A damaged id may hold anything, so only a UUID is shown. */
const shownDamage = (damage: Damage): Damage =>
  damage.id === undefined ? damage : { ...damage, id: shownId(damage.id) }

/** A customer may have any name, so the text is one that no two keys share. */
const keyOf = (customerId: string | undefined, kind: string, id: string | undefined): string =>
  JSON.stringify([customerId, kind, id])
