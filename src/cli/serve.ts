import cluster from 'node:cluster'
import { Command } from 'commander'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { type Logger, openLog } from '../platform/log.ts'
import { startService } from '../service.ts'
import { type CommonOptions, configOf, withCommonOptions } from './options.ts'
import type { Output } from './output.ts'
import { onHangUp, untilSignalled } from './signals.ts'
import { asWorker } from './worker.ts'
import { superviseWorkers } from './workers.ts'

type ServeFlags = CommonOptions & {
  readonly host?: string
  readonly port?: string
  readonly workers?: string
}

export function serveCommand(output: Output): Command {
  return withCommonOptions(new Command('serve'))
    .description('serves the API; prints its URL when it is ready')
    .option('--host <host>', 'the address to listen on')
    .option('--port <number>', 'the port to listen on; 0 takes a free one')
    .option('--workers <number>', 'how many processes answer')
    .action(async (flags: ServeFlags) => {
      const config = configOf(flags, {
        ...(flags.host !== undefined && { host: flags.host }),
        ...(flags.port !== undefined && { port: flags.port }),
        ...(flags.workers !== undefined && { workers: flags.workers }),
      })
      const log = openLog(config.logLevel)
      const announce = (url: string) =>
        output.print(flags.json ? JSON.stringify({ url }) : `listening on ${url}`)
      if (config.workers === 1) {
        // Heard from here on: a signal may come as soon as the line is read.
        await serve({ config, log, announce, ended: untilSignalled(log) })
      } else if (cluster.isPrimary) {
        process.exitCode = await superviseWorkers({ config, log, announce })
      } else {
        await asWorker(log, (worker) => serve({ config, ...worker }))
      }
    })
}

type Serving = {
  readonly config: Config
  readonly log: Logger
  readonly announce: (url: string) => void
  readonly ended: Promise<void>
}

async function serve({ config, log, announce, ended }: Serving): Promise<void> {
  const service = await startService({ config, log, clock: systemClock })
  onHangUp(log, service.reload)
  announce(service.url)
  await ended
  await service.close()
}
