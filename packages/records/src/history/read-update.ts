import { limitsOf, turn } from '@bursar/base'
import { resourceOf } from '@bursar/contract'
import type { LatestChange } from '../records/latest-change.ts'
import type { Store } from '../records.ts'
import { StoreDamaged } from '../unavailable.ts'
import { changedMembers } from './changed-members.ts'

const limits = limitsOf({
  /** Updates that are read together to describe the newest changes. */
  latestUpdatesTogether: 4,
})

/** What an update changed: the members, and the status where it is one of them. */
export type Update = {
  readonly changed: readonly string[]
  readonly status_before?: string
  readonly status_after?: string
}

/**
 * Compares the version of each update with the one before it. An update has no answer where one of
 * them is not kept, or is damaged: the list of changes must stay readable then.
 */
export async function readUpdates(
  operator: Pick<Store['operator'], 'update'>,
  changes: readonly LatestChange[],
): Promise<ReadonlyMap<LatestChange, Update>> {
  const updates = changes.filter(({ action }) => action === 'updated')
  const found = new Map<LatestChange, Update>()
  for (let at = 0; at < updates.length; at += limits.latestUpdatesTogether) {
    // A step takes some milliseconds, after which other requests have their turn.
    if (at > 0) await turn()
    const step = updates.slice(at, at + limits.latestUpdatesTogether)
    await Promise.all(
      step.map(async (change) => {
        const update = await readUpdate(operator, change)
        if (update !== undefined) found.set(change, update)
      }),
    )
  }
  return found
}

async function readUpdate(
  operator: Pick<Store['operator'], 'update'>,
  { kind, id, customerId, storedAt }: LatestChange,
): Promise<Update | undefined> {
  try {
    const update = await operator.update(resourceOf(kind), { id, customerId }, storedAt)
    if (update === undefined) return undefined
    const [before, after] = [JSON.parse(update.before), JSON.parse(update.after)]
    const changed = changedMembers(before, after)
    return changed.includes('status')
      ? { changed, status_before: before.status, status_after: after.status }
      : { changed }
  } catch (error) {
    if (error instanceof StoreDamaged) return undefined
    throw error
  }
}
