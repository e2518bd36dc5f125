import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unlimitedGuesses } from '../oauth/clients/guess-limiter.ts'
import { openMovableClock, systemClock } from '../platform/clock.ts'
import { loadConfig } from '../platform/config.ts'
import { openLog } from '../platform/log.ts'
import { openSandbox } from '../sandbox/sandbox.ts'
import { startService } from '../service.ts'
import { createStore } from '../stores.ts'
import type { RunningSandbox } from './control-client.ts'

/** A sandbox in this process, over a store in a temporary folder. It has no customer yet. */
export async function startSandboxHere(): Promise<RunningSandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-sandbox-'))
  const discard = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', discard)
  const config = loadConfig({
    flags: {
      databaseUrl: `sqlite:${join(folder, 'sandbox.db')}`,
      port: '0',
      acceptSampleFees: 'true',
      oauthRequestsPerSecondMax: '0',
    },
    // The environment and the configuration file belong to the program under test.
    env: {},
    file: null,
  })
  const log = openLog('silent')
  await createStore({ config, log, clock: systemClock })
  const clock = openMovableClock()
  const service = await startService({
    ...{ config, log, clock: clock.now, ageClock: systemClock, guessLimiter: unlimitedGuesses },
    extend: (parts) => openSandbox(parts, { clock, startsEmpty: true }),
  })
  return {
    url: service.url,
    close: async () => {
      await service.close()
      process.off('exit', discard)
      discard()
    },
  }
}
