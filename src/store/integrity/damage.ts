import { limits } from '../../platform/limits.ts'
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

/** The damage that this process has found and that nobody has mended yet. */
export type DamageList = {
  /**
   * Adds damage and reports it, once. Returns the error for the request that met it. `isMended`
   * looks again, and rejects where it cannot tell.
   */
  note(damage: MetDamage, isMended: () => Promise<boolean>): StoreDamaged
  found(): readonly Damage[]
  /**
   * The error for a record that is known to be damaged. To every other customer its id is unknown,
   * so none can learn that it exists.
   */
  errorOf(customerId: string, kind: string, id: string): StoreDamaged | undefined
  /** How often damage was met. What was read before may be damaged, even if it is mended now. */
  met(): number
  /** Whether damage of this kind is known, listed or not. */
  hasKind(kind: string): boolean
  /**
   * Call it before all records of a kind are verified, and call what it returns if that worked: it
   * forgets the damage of the kind that was not listed, unless more was met in between.
   */
  verifying(kind: string): () => void
  /** Forgets what has been mended. */
  lookAgain(): Promise<void>
}

export type DamageReport = {
  readonly onFound: (damage: Damage) => void
  readonly onMended: (damage: Damage) => void
  /** The list is full, and there is more damage. */
  readonly onMore: () => void
}

type Known = { readonly damage: Damage; readonly isMended: () => Promise<boolean> }

export function openDamageList({ onFound, onMended, onMore }: DamageReport): DamageList {
  const known = new Map<string, Known>()
  /** How often damage of a kind was met that the list had no room for. */
  const unlisted = new Map<string, number>()
  let met = 0
  const errorFor = ({ kind, id, fault }: Damage) =>
    new StoreDamaged(`${kind}${id === undefined ? '' : ` ${id}`}: ${fault}`)
  const isListed = (kind: string) => [...known.values()].some((one) => one.damage.kind === kind)
  return {
    note({ customerId, ...damage }, isMended) {
      const shown = shownDamage(damage)
      const key = keyOf(customerId, shown.kind, shown.id)
      if (known.has(key)) return errorFor(shown)
      met += 1
      if (known.size < limits.damageListedMax) {
        known.set(key, { damage: shown, isMended })
        onFound(shown)
        return errorFor(shown)
      }
      if (unlisted.size === 0) onMore()
      unlisted.set(shown.kind, (unlisted.get(shown.kind) ?? 0) + 1)
      return errorFor(shown)
    },
    found: () => [...known.values()].map(({ damage }) => damage),
    errorOf(customerId, kind, id) {
      const found = known.get(keyOf(customerId, kind, id))
      return found && errorFor(found.damage)
    },
    met: () => met,
    hasKind: (kind) => unlisted.has(kind) || (known.size > 0 && isListed(kind)),
    verifying(kind) {
      const before = unlisted.get(kind)
      return () => {
        if (unlisted.get(kind) === before && !isListed(kind)) unlisted.delete(kind)
      }
    },
    async lookAgain() {
      for (const [key, { damage, isMended }] of [...known]) {
        // A store that cannot be read has not been mended.
        if (!(await isMended().catch(() => false))) continue
        known.delete(key)
        onMended(damage)
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
