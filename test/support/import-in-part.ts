import { countsOf } from '@bursar/intake'
import type { Store } from '@bursar/records'
import { take } from './record-store.ts'
import { aFiatAccount, anId } from './records.ts'

/** Stores an import which skips one of its two records. */
export async function importInPart(store: Store): Promise<void> {
  const importer = { user: 'ada', sudoUser: undefined, file: 'day.ndjson', files: 1 }
  const running = await store.imports.begin({ kind: 'fiat-accounts', importer, boundTo: undefined })
  const { id } = running.row
  await take(store, 'fiat-accounts', [aFiatAccount({ id: anId(900_001) }), { id: 'no id' }], {
    row: (report) => ({ id, counts: countsOf(report), digests: undefined, answer: undefined }),
    reject: () => {},
    expected: { rejectedMax: 1 },
  })
  running.end()
}
