import type { Background, Clock, Config, Keyring, Logger, Recorder } from '@bursar/base'
import type { Interfere, Route } from '@bursar/contract'
import type { GuessLimiter, OAuth } from '@bursar/oauth'
import type { CredentialStore, FeeQuoteStore, SandboxState, Store } from '@bursar/records'
import type { PageClient } from './documents/api-page/api-page.ts'
import type { ConsoleClient } from './documents/console/console-page.ts'
import type { UnsentAnswers } from './server/connections/unsent-answers.ts'
import type { Served } from './server/request-log.ts'
import type { MergeMetrics } from './service-metrics.ts'

export type ServiceDeps = {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  /** Whether tests move `clock`, as those of a sandbox do. */
  readonly clockMoves?: boolean
  /** Runs the jobs of the process that is about to serve. */
  readonly background?: Background
  /** Called once the stores are open; the sandbox adds its routes here. It has public secrets. */
  readonly extend?: (parts: ServiceParts) => Promise<ServiceExtension>
  readonly guessLimiter?: GuessLimiter
  readonly unsent?: UnsentAnswers
  /** Reads the metrics of every worker, where there are several. */
  readonly mergeMetrics?: MergeMetrics | undefined
  /** Where the spans of customers' and ingest's requests go. Closed by the caller. */
  readonly tracing?: Recorder | undefined
}

export type ServiceParts = {
  readonly store: Store
  readonly credentials: CredentialStore
  readonly quotes: FeeQuoteStore
  readonly keyring: Keyring
  readonly config: Config
  readonly clock: Clock
  readonly oauth: Pick<OAuth, 'refresh' | 'reload'>
  /** Where the service listens, once it does. */
  readonly url: () => string
  /** Absent on PostgreSQL. */
  readonly sandbox: (() => SandboxState) | undefined
}

export type ServiceExtension = {
  readonly routes: readonly Route[]
  readonly interfere?: Interfere
  /** Learns of every request that was served. */
  readonly served?: (served: Served) => void
  /** Whether `served` prints requests, so that the log need not name ignored parameters. */
  readonly printsRequests?: boolean
  readonly close?: () => void
  readonly pageClient: PageClient
  /** Whose records the console shows after one click. */
  readonly consoleClients: readonly ConsoleClient[]
  /** How many records of each kind there are. */
  readonly records: Readonly<Record<string, number>>
}
