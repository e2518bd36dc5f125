import type { Background, Config, Logger } from '@bursar/base'
import { startRecordWalk } from '@bursar/intake'
import type { FeeQuoteStore, Store } from '@bursar/records'
import { startForgetImports } from './works/forget-imports.ts'
import { startAnnouncing } from './works/withdrawal-fees/announce-consumed.ts'
import { startQuoteSweep } from './works/withdrawal-fees/sweep-quotes.ts'

type JobDeps = {
  readonly store: Store
  readonly quotes: FeeQuoteStore
  readonly servesOperator: boolean
  readonly config: Pick<Config, 'importRetentionDays'>
  readonly log: Logger
  readonly background: Background
}

/**
 * Starts the jobs over the stores; `opened` stops them. They need the operator, who sees all
 * customers. `announceSoon` announces the fees that were just consumed.
 */
export function startStoreJobs(deps: JobDeps, opened: AsyncDisposableStack) {
  const { store, quotes, servesOperator, config, log, background } = deps
  const jobs = { log, background }
  if (!servesOperator) return { announceSoon: () => {} }
  opened.defer(startRecordWalk({ ...jobs, damage: store.damage }))
  opened.defer(startQuoteSweep({ ...jobs, quotes }))
  opened.defer(startForgetImports({ ...jobs, config, imports: store.imports }))
  const { announceSoon, stop } = startAnnouncing({ ...jobs, quotes, store })
  opened.defer(stop)
  return { announceSoon }
}
