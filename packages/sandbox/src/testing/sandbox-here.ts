import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, openLog, openMovableClock, systemTime } from '@bursar/base'
import { unlimitedGuesses } from '@bursar/oauth'
import { startService } from '@bursar/server'
import { createStore } from '@bursar/server/stores'
import { openSandbox } from '../sandbox.ts'
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
  if (emptyStore === undefined) {
    await createStore({ config, log, clock: systemTime.now })
    emptyStore = readFiles(folder)
  } else writeFiles(folder, emptyStore)
  const clock = openMovableClock()
  const service = await startService({
    config,
    log,
    clock: clock.now,
    clockMoves: true,
    guessLimiter: unlimitedGuesses,
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

type Files = ReadonlyMap<string, Buffer>

/** The files of a store without records. Copying them takes less time than making them. */
let emptyStore: Files | undefined

const readFiles = (folder: string): Files =>
  new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))

/** The store refuses files that others can read. */
function writeFiles(folder: string, files: Files): void {
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes, { mode: 0o600 })
}
