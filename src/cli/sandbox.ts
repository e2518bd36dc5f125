import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { systemClock } from '../platform/clock.ts'
import { ConfigError } from '../platform/config.ts'
import { openLog } from '../platform/log.ts'
import { bannerOf } from '../sandbox/banner.ts'
import { openSandbox } from '../sandbox/sandbox.ts'
import { acme } from '../sandbox/world.ts'
import { startService } from '../service.ts'
import { type CommonOptions, configOf, withCommonOptions } from './options.ts'
import type { Output } from './output.ts'
import { onHangUp, untilSignalled } from './signals.ts'

type SandboxFlags = CommonOptions & { readonly port?: string; readonly data?: string }

export function sandboxCommand(output: Output): Command {
  return withCommonOptions(new Command('sandbox'))
    .description('an embedded store with sample records and a sample client, served')
    .option('--port <number>', 'the port to listen on; 0 takes a free one')
    .option('--data <dir>', 'keep the data in this folder instead of throwing it away')
    .action(async (flags: SandboxFlags) => {
      if (flags.database !== undefined) {
        throw new ConfigError('the sandbox keeps a store of its own; --data DIR says where')
      }
      const folder = flags.data ?? mkdtempSync(join(tmpdir(), 'bursar-sandbox-'))
      const discard = () => {
        if (flags.data === undefined) rmSync(folder, { recursive: true, force: true })
      }
      // Also where the process ends without having been asked to.
      process.on('exit', discard)
      const config = configOf(flags, {
        // A name of its own, so that the sandbox never fills or resets a folder's real store.
        databaseUrl: `sqlite:${join(folder, 'sandbox.db')}`,
        // Its fees are as made up as its records, and the banner says so.
        acceptSampleFees: 'true',
        ...(flags.port !== undefined && { port: flags.port }),
      })
      // Every request's line would bury the banner; LOG_LEVEL brings them back.
      const log = openLog(process.env.LOG_LEVEL === undefined ? 'warn' : config.logLevel)
      // Heard from here on: a signal may come as soon as the banner is read.
      const signalled = untilSignalled(log)
      const service = await startService({ config, log, clock: systemClock, extend: openSandbox })
      onHangUp(log, service.reload)
      output.print(
        flags.json
          ? JSON.stringify({
              url: service.url,
              client_id: acme.clientId,
              client_secret: acme.clientSecret,
            })
          : bannerOf(service.url, service.extension?.records ?? {}, flags.data),
      )
      await signalled
      await service.close()
      discard()
    })
}
