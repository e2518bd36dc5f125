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

/** The damage that this process has found and that nobody has mended yet. */
export type DamageList = {
  /**
   * Adds damage and reports it, once. Returns the error for the request that met it. `isMended`
   * looks again, and rejects where it cannot tell.
   */
  note(damage: Damage, isMended: () => Promise<boolean>): StoreDamaged
  found(): readonly Damage[]
  /** The error for a record that is known to be damaged. */
  errorOf(kind: string, id: string): StoreDamaged | undefined
  hasKind(kind: string): boolean
  /** Forgets what has been mended. */
  lookAgain(): Promise<void>
}

export type DamageReport = {
  readonly onFound: (damage: Damage) => void
  readonly onMended: (damage: Damage) => void
}

type Known = { readonly damage: Damage; readonly isMended: () => Promise<boolean> }

export function openDamageList({ onFound, onMended }: DamageReport): DamageList {
  const known = new Map<string, Known>()
  const errorFor = ({ kind, id, fault }: Damage) =>
    new StoreDamaged(`${kind}${id === undefined ? '' : ` ${id}`}: ${fault}`)
  return {
    note(damage, isMended) {
      const shown = shownDamage(damage)
      const key = keyOf(shown.kind, shown.id)
      if (!known.has(key) && known.size < limits.damageListedMax) {
        known.set(key, { damage: shown, isMended })
        onFound(shown)
      }
      return errorFor(shown)
    },
    found: () => [...known.values()].map(({ damage }) => damage),
    errorOf(kind, id) {
      const found = known.get(keyOf(kind, id))
      return found && errorFor(found.damage)
    },
    hasKind: (kind) =>
      known.size > 0 && [...known.values()].some((one) => one.damage.kind === kind),
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

const keyOf = (kind: string, id: string | undefined): string => `${kind} ${id ?? ''}`
