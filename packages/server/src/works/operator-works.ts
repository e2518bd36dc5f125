import type { Config, Logger } from '@bursar/base'
import {
  callsOf,
  cancelImport,
  consumeWithdrawalFee,
  getAttention,
  getCaller,
  getHealth,
  getImport,
  getWithdrawalFee,
  historyOf,
  ingestOperations,
  listChanges,
  listCustomers,
  listImports,
  listLatestChanges,
  listOfAll,
  listPastRecords,
  maskedResources,
  noneFound,
  type OperatorPrincipal,
  type OperatorWork,
  type ReserveAnswer,
  readsOf,
  resources,
  searchRecords,
} from '@bursar/contract'
import {
  importWorks,
  openForeignValues,
  openStreamGate,
  type RecordDeps,
  recordWorks,
  type StreamDeps,
  streamWork,
} from '@bursar/intake'
import {
  customersWork,
  type FeeQuoteStore,
  historyWork,
  type Imports,
  type RecordReads,
  readsWork,
  type Store,
  searchWork,
} from '@bursar/records'
import { readPastList } from '../pipeline/read-past.ts'
import type { Readings } from '../pipeline/routes-of.ts'
import { changesWork, latestChangesWork } from './events/change-work.ts'
import type { EventWaits } from './events/event-waits.ts'
import { attentionWork } from './overview/attention-work.ts'
import { listWork } from './overview/list-work.ts'
import { consumeQuote } from './withdrawal-fees/consume-quote.ts'
import { findQuote } from './withdrawal-fees/describe-quote.ts'

type IngestDeps = Omit<RecordDeps, 'foreign'> & {
  readonly quotes: Pick<FeeQuoteStore, 'operator'>
  readonly imports: Imports
  readonly reads: Pick<RecordReads, 'list'>
  readonly log: Logger
  readonly health: () => Promise<object>
  readonly announceSoon: () => void
  readonly reserveAnswer: ReserveAnswer
  readonly store: Pick<Store, 'customers'>
  readonly config: Pick<Config, 'databaseConnectionsMax'>
  readonly waits: EventWaits
} & Pick<StreamDeps, 'spools' | 'writers'>

/** The work of each call of the operator's API, by the operation's id. */
export function operatorWorks(deps: IngestDeps): Readings<OperatorPrincipal> {
  const records = { ...deps, foreign: openForeignValues(deps.log) }
  const streams = { ...records, gate: openStreamGate() }
  const ofRecords = resources.flatMap((resource): (readonly [string, OperatorWork])[] => {
    const works = recordWorks(resource, records)
    const calls = callsOf(resource)
    return [
      [calls.get, works.get],
      [calls.put, works.put],
      [calls.delete, works.delete],
      [calls.post, streamWork(resource, streams)],
      [historyOf(resource), historyWork(resource, deps)],
      [listOfAll(resource), listWork(resource, deps)],
    ]
  })
  const imports = importWorks(deps.imports)
  return {
    ...Object.fromEntries(ofRecords),
    ...Object.fromEntries(maskedResources.map((one) => [readsOf(one), readsWork(one, deps)])),
    ...Object.fromEntries(listPastRecords.map((past) => [past.id, readPastList(past, deps)])),
    [listChanges.id]: changesWork(deps),
    [listCustomers.id]: customersWork(deps),
    [listLatestChanges.id]: latestChangesWork(deps),
    [searchRecords.id]: searchWork(deps),
    [getAttention.id]: attentionWork(deps),
    [getWithdrawalFee.id]: feeWork(deps),
    [consumeWithdrawalFee.id]: consumeQuote(deps),
    [listImports.id]: imports.list,
    [getImport.id]: imports.get,
    [cancelImport.id]: imports.cancel,
    [getCaller.id]: async ({ caller }) => ({ body: describeCaller(caller) }),
    [getHealth.id]: async () => ({ body: await deps.health() }),
  }
}

/** The operations by which staff and the operator's systems read what customers have. */
export const operatorReads = ingestOperations
  .filter(({ method }) => method === 'GET')
  .map(({ id }) => id)
  .filter((id) => ![listImports, getImport, getCaller, getHealth].some((one) => one.id === id))

const describeCaller = ({ boundTo, person, scopes }: OperatorPrincipal) => ({
  ...(boundTo !== null && { customer_id: boundTo }),
  ...(person !== undefined && { subject: person.subject }),
  scopes: [...scopes],
})

const feeWork =
  ({ quotes }: IngestDeps): OperatorWork =>
  async ({ caller, parameters, trace }) => {
    const id = String(parameters.get('id'))
    const found = await findQuote(quotes, id)
    const isOwn = caller.boundTo === null || caller.boundTo === found?.customer_id
    if (found === undefined || !isOwn) throw noneFound('fee', id)
    trace.rows = 1
    return { body: found }
  }
