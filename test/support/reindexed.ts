import { resources } from '@bursar/contract'
import { reindexKind } from '@bursar/intake'
import type { Store } from '@bursar/records'
import { rules } from './record-store.ts'

/** What `reindex` says of a store, in its order, after it has written again what it may. */
export async function reindexed({ operator }: Store, writes: boolean): Promise<readonly string[]> {
  const said: string[] = []
  for (const resource of resources) {
    for await (const { differences } of reindexKind(resource, { operator, rules, writes })) {
      said.push(...differences.map(({ what }) => what))
    }
  }
  return said
}
