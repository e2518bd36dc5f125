import { isIP } from 'node:net'
import { isWildcard, openBackground, urlHost } from '@bursar/base'
import { requireOneIssuer } from '@bursar/oauth'
import type { Life } from './documents/readiness.ts'
import { partsOf } from './parts.ts'
import type { Server } from './server/build-server.ts'
import type { ServiceDeps, ServiceExtension } from './service-deps.ts'
import { startStoreJobs } from './service-jobs.ts'
import {
  composeRoutes,
  extend,
  type Late,
  listenForOperator,
  openAudit,
  openBounds,
  openFeeSources,
  openHealth,
  openIntake,
  openMeasures,
  openServer,
  openStores,
  openTokens,
  startGauges,
} from './service-parts.ts'

/** A running service: the composition root that `startService` opens. */
export type Service = {
  readonly url: string
  /** The URL of the operator's port, if there is one. */
  readonly operatorUrl: string | undefined
  readonly extension: ServiceExtension | undefined
  /** Reads the fee schedule again, the one input that may change while the service runs. */
  reload(): void
  /**
   * Answers the requests in flight, then closes the stores. With `drain` it first takes leave of
   * the clients, so that none loses a request.
   */
  close(drain?: { readonly lameDuckMs: number }): Promise<void>
}

export async function startService(sources: ServiceDeps): Promise<Service> {
  const { config, log } = sources
  const late: Late = {
    // A document that is read before the service listens names the right URL, unless the port is 0.
    url: config.publicUrl ?? urlOf(config.host, String(config.port)),
    routes: [],
  }
  const life: Life = { isEnding: false }
  await using opened = new AsyncDisposableStack()
  const parts = await partsOf({ background: openBackground(), ...sources, late, life })
    .add(openMeasures)
    .add(openStores)
    .add(openFeeSources)
    .add(startStoreJobs)
    .add(openAudit)
    .add(openTokens)
    .add(extend)
    .add(openBounds)
    .add(openHealth)
    .add(openIntake)
    .add(startGauges)
    .add(listenForOperator)
    .add(composeRoutes)
    .add(openServer)
    .open(opened)
  const { server, stores, store, fees, extension, operatorUrl } = parts
  const listening = await server.listen(config.host, config.port)
  const url = config.publicUrl ?? urlOf(config.host, new URL(listening).port)
  late.url = url
  requireOneIssuer({ config, log }, url, await stores.claimIssuer(url))
  fees.warnWithoutFee()
  const close = closerOf(life, server, store.customers.changes.stop, opened.move())
  return { url, operatorUrl, extension, reload: fees.reload, close }
}

const closerOf =
  (
    life: Life,
    server: Server,
    endWaits: () => void,
    running: AsyncDisposableStack,
  ): Service['close'] =>
  async (drain) => {
    life.isEnding = true
    endWaits()
    if (drain !== undefined) await server.drain(drain.lameDuckMs)
    await running.disposeAsync()
  }

/**
 * The host as configured: tokens and clients know the issuer by this name. Nobody can connect to a
 * wildcard address, which only the sandbox may listen on without a public URL.
 */
function urlOf(host: string, port: string): string {
  const own = isIP(host) === 6 ? '::1' : '127.0.0.1'
  return `http://${urlHost(isWildcard(host) ? own : host)}${port === '' ? '' : `:${port}`}`
}
