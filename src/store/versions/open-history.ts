import type { Dialect } from '../dialect.ts'
import type { OperatorRecords } from '../records.ts'
import type { Reads, Transact } from '../session.ts'
import { openPastPages } from './past-page.ts'
import { openPruner } from './prune.ts'
import { openSearch } from './search.ts'
import { openVersions } from './versions.ts'

type HistoryDeps = Reads & { readonly transact: Transact; readonly dialect: Dialect }

/** What records were, and the records of every customer by an identifier. */
export const openHistory = ({
  transact,
  dialect,
  ...reads
}: HistoryDeps): Pick<
  OperatorRecords,
  'find' | 'findAsOf' | 'pageAsOf' | 'history' | 'search' | 'pruneHistory'
> => ({
  ...openVersions(reads, dialect),
  ...openPastPages(reads, dialect),
  ...openSearch(reads, dialect),
  ...openPruner(transact, dialect),
})
