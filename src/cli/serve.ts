import { Command } from 'commander'
import { systemClock } from '../platform/clock.ts'
import { openLog } from '../platform/log.ts'
import { startService } from '../service.ts'
import { type CommonOptions, configOf, withCommonOptions } from './options.ts'
import type { Output } from './output.ts'
import { onHangUp, untilSignalled } from './signals.ts'

type ServeFlags = CommonOptions & { readonly host?: string; readonly port?: string }

export function serveCommand(output: Output): Command {
  return withCommonOptions(new Command('serve'))
    .description('serves the API; prints its URL when it is ready')
    .option('--host <host>', 'the address to listen on')
    .option('--port <number>', 'the port to listen on; 0 takes a free one')
    .action(async (flags: ServeFlags) => {
      const config = configOf(flags, {
        ...(flags.host !== undefined && { host: flags.host }),
        ...(flags.port !== undefined && { port: flags.port }),
      })
      const log = openLog(config.logLevel)
      // Heard from here on: a signal may come as soon as the line below is read.
      const signalled = untilSignalled(log)
      const service = await startService({ config, log, clock: systemClock })
      onHangUp(log, service.reload)
      output.print(
        flags.json ? JSON.stringify({ url: service.url }) : `listening on ${service.url}`,
      )
      await signalled
      await service.close()
    })
}
