import cluster from 'node:cluster'
import {
  type Background,
  type Config,
  openBackground,
  openLog,
  openTracing,
  systemTime,
} from '@bursar/base'
import { requirePublicUrl, warnOfPlainHttp } from '@bursar/oauth'
import type { ServiceDeps } from '@bursar/server'
import { createStore, requireOneServer } from '@bursar/server/stores'
import type { Command } from 'commander'
import { type CommonOptions, configOf, newCommand, requireOwnPorts } from './options.ts'
import { type Output, printResult } from './output.ts'
import { logCrashes } from './processes/crashes.ts'
import { lameDuckMsAfter, onHangUp, untilSignalled } from './processes/signals.ts'
import { startRetried } from './processes/start-retried.ts'
import { runAsWorker, type WorkerSide } from './processes/worker.ts'
import { superviseWorkers } from './processes/workers.ts'
import type { CreateOption } from './with-stores.ts'

type ServeOptions = CommonOptions &
  CreateOption & {
    readonly host?: string
    readonly port?: string
    readonly workers?: string
  }

export function serveCommand(output: Output): Command {
  return newCommand('serve', 'Serve the API and print its URL when it is ready.', [
    'serve --host 127.0.0.1 --port 8080',
    'serve --database sqlite:data/bursar.db --create',
    'serve --workers 4',
  ])
    .option('--host <host>', 'The address to listen on.')
    .option('--port <number>', 'The port to listen on; 0 picks a free port.')
    .option(
      '--workers <number>',
      'The number of processes that answer requests: one, or several on PostgreSQL.',
    )
    .option('--create', 'Create the embedded store if there is none at its path.')
    .action(async (options: ServeOptions) => {
      const { host, port, workers } = options
      const config = configOf(options, {
        ...(host !== undefined && { host }),
        ...(port !== undefined && { port }),
        ...(workers !== undefined && { workers }),
      })
      requireOneServer(config)
      requirePublicUrl(config)
      requireOwnPorts(config)
      const log = openLog(config.logLevel)
      logCrashes(log)
      // With workers, this process warns for all of them.
      if (cluster.isPrimary) warnOfPlainHttp(config, log)
      // A worker that is replaced later must not make a store that the others do not serve.
      if (options.create === true && cluster.isPrimary) {
        await createStore({ config, log, clock: systemTime.now })
      }
      const announce = (url: string) =>
        printResult(output, options, { url }, [`listening on ${url}`])
      const background = openBackground()
      if (config.workers === 1) {
        // Listen for signals first: one may come as soon as the URL has been printed.
        const ended = untilSignalled(log, { background })
        await serve({ config, log, background, announce, ended })
      } else if (cluster.isPrimary) {
        process.exitCode = await superviseWorkers({ config, log, announce })
      } else {
        const mergeMetrics = await mergingMetrics(config)
        await runAsWorker(log, (worker) => serve({ config, background, mergeMetrics, ...worker }))
      }
    })
}

type Serving = WorkerSide & {
  readonly config: Config
  readonly background: Background
  readonly mergeMetrics?: ServiceDeps['mergeMetrics']
}

/** Without the operator's port nobody reads metrics, so then their library is not loaded. */
const mergingMetrics = async ({ operatorPort }: Config) =>
  operatorPort === undefined
    ? undefined
    : (await import('./processes/merged-metrics.ts')).mergeWithOthers

async function serve({
  config,
  log,
  background,
  mergeMetrics,
  ...process
}: Serving): Promise<void> {
  // Only a server needs the web framework, which takes a fifth of the start of every command.
  const { startService } = await import('@bursar/server')
  const tracing = openTracing(globalThis.process.env, log)
  const deps = { config, log, background, mergeMetrics, tracing, clock: systemTime.now }
  const start = () => startService(deps)
  const service = await startRetried(start, { config, log, ended: process.ended })
  onHangUp(log, service.reload)
  process.announce(service.url)
  await service.close({ lameDuckMs: lameDuckMsAfter(await process.ended, config) })
  await tracing?.close()
}
