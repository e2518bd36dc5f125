import type { StatementSync } from 'node:sqlite'
import { limitsOf } from '@bursar/base'
import { type ChangeSource, type Reads, text, whole } from '@bursar/records'

const limits = limitsOf({
  /** How often the embedded store looks for a commit of another connection: some microseconds. */
  storeChangesLookMs: 50,
})

/**
 * SQLite announces nothing, but counts the commits of other connections, of any process, in
 * `data_version`. The connection of the readers commits nothing itself.
 */
export function changesOf(prepare: (sql: string) => StatementSync, { rows }: Reads): ChangeSource {
  let seen: unknown
  return {
    everyMs: limits.storeChangesLookMs,
    looks: {
      mayHaveChanged: () => {
        const before = seen
        seen = prepare('pragma data_version').get()?.data_version
        return seen !== before
      },
    },
    count: async (tenants) => {
      const found = await rows({
        text: 'select id, changes from customer where id in (select value from json_each($1))',
        values: [JSON.stringify(tenants)],
      })
      return new Map(found.map((row) => [text(row, 'id'), whole(row, 'changes')]))
    },
  }
}
