import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, openBackground, openLog, openMovableClock, systemTime } from '@bursar/base'
import { unlimitedGuesses } from '@bursar/oauth'
import { createStore } from '@bursar/server/stores'
import type { Command } from 'commander'
import { type CommonOptions, configOf, newCommand, requireOwnPorts } from './options.ts'
import { type Output, printResult } from './output.ts'
import { logCrashes } from './processes/crashes.ts'
import { onHangUp, untilSignalled } from './processes/signals.ts'
import { startRetried } from './processes/start-retried.ts'

type SandboxOptions = CommonOptions & { readonly port?: string; readonly data?: string }

export function sandboxCommand(output: Output): Command {
  return newCommand('sandbox', 'Serve an embedded store with sample records and a sample client.', [
    'sandbox --port 8080',
    'sandbox --data sandbox-data',
  ])
    .option('--port <number>', 'The port to listen on; 0 picks a free port.')
    .option('--data <dir>', 'Keep the data in this folder instead of deleting it at the end.')
    .action(async (options: SandboxOptions) => {
      if (options.database !== undefined) {
        throw new ConfigError('the sandbox uses its own store; choose its folder with --data DIR')
      }
      const folder = options.data ?? mkdtempSync(join(tmpdir(), 'bursar-sandbox-'))
      const discard = () => {
        if (options.data === undefined) rmSync(folder, { recursive: true, force: true })
      }
      // This also covers an exit without a signal.
      process.on('exit', discard)
      const config = configOf(options, {
        // Another name, so that the sandbox never changes a real store in that folder.
        databaseUrl: `sqlite:${join(folder, 'sandbox.db')}`,
        // The banner says that the fees are samples.
        acceptSampleFees: 'true',
        // A test suite may ask for many tokens at once, and its secrets are public.
        oauthRequestsPerSecondMax: '0',
        ...(options.port !== undefined && { port: options.port }),
      })
      requireOwnPorts(config)
      // Request logs would bury the banner. Setting LOG_LEVEL brings them back.
      const log = openLog(process.env.LOG_LEVEL === undefined ? 'warn' : config.logLevel)
      logCrashes(log)
      // Listen for signals first: one may come as soon as the banner has been printed.
      const background = openBackground()
      const signalled = untilSignalled(log, { background })
      await createStore({ config, log, clock: systemTime.now })
      const { startService } = await import('@bursar/server')
      const { acme, bannerOf, openSandbox } = await import('@bursar/sandbox')
      const clock = openMovableClock()
      const print = process.env.LOG_LEVEL === undefined ? terminalLine() : undefined
      const start = () =>
        startService({
          config,
          log,
          clock: clock.now,
          clockMoves: true,
          background,
          extend: (parts) => openSandbox(parts, { clock, ...(print && { print }) }),
          guessLimiter: unlimitedGuesses,
        })
      const service = await startRetried(start, { config, log, ended: signalled })
      onHangUp(log, service.reload)
      const { url, extension } = service
      const document = { url, client_id: acme.clientId, client_secret: acme.clientSecret }
      const banner = bannerOf(url, extension?.records ?? {}, options.data, config)
      printResult(output, options, document, [banner])
      await signalled
      // Requests in flight are answered. Taking leave of idle clients would make tests wait.
      await service.close()
      discard()
    })
}

/** Someone who sets LOG_LEVEL wants the log's own lines. */
const terminalLine = (): ((line: string) => void) | undefined =>
  process.stderr.isTTY ? (line) => process.stderr.write(`${line}\n`) : undefined
