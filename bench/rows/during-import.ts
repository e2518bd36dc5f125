import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cores } from '../../test/support/cores.ts'
import type { Listening } from '../../test/support/server-process.ts'
import { figuresOf, runAtFixedRate } from '../fixed-rate.ts'
import { type Row, say } from '../report.ts'
import { runWrk } from '../wrk.ts'
import { addressLines } from './imports.ts'
import type { ReadWorld } from './read-world.ts'

type Parts = {
  /** Of the store that the service reads. */
  readonly env: Readonly<Record<string, string>>
  readonly world: ReadWorld
  readonly service: Listening
  readonly seconds: number
  readonly records: number
}

/** An import that takes longer fails the row. */
const IMPORT_SECONDS_MAX = 900

/**
 * Runs a command of a new session behind other programs of its core, or the delays of load and
 * database would be measured. Linux shares a core among sessions first, where `nice` has no effect.
 */
const lastOnItsCore = 'echo 19 > /proc/self/autogroup; exec "$@"'

/**
 * Cold lists of 100 at half of their peak rate, while deposit addresses are imported into the same
 * store, from the first line of the import to its last commit.
 */
export function duringImportRow({ env, world, service, seconds, records }: Parts): Row {
  const file = join(world.folder, 'during.ndjson')
  return {
    name: 'p99 at half of peak, during an import',
    goal: 4,
    atMost: true,
    unit: 'ms',
    reference: 'ms p50',
    rounds: 1,
    measure: async () => {
      writeFileSync(file, addressLines(records))
      const load = { url: service.url, tokens: world.tokens, requests: world.pages(100) }
      const peak = await runWrk({ ...load, seconds })
      const halved = { ...load, rate: peak.rate / 2 }
      const before = await runAtFixedRate({ ...halved, seconds: 4 * seconds })
      say(`  without an import: ${Math.round(halved.rate)}/s, ${figuresOf(before)}`)
      const words = ['dist/main.js', 'import', 'deposit-addresses', file]
      const pinned = ['taskset', '-c', cores.load, 'nice', '-n', '19', process.execPath]
      const importing = spawn('bash', ['-c', lastOnItsCore, 'bash', ...pinned, ...words], {
        env: { ...process.env, ...env, LOG_LEVEL: 'silent' },
        stdio: 'ignore',
        detached: true,
      })
      process.once('exit', () => importing.kill())
      const ended = new AbortController()
      importing.once('exit', () => ended.abort())
      const limits = { seconds: IMPORT_SECONDS_MAX, until: ended.signal }
      const during = await runAtFixedRate({ ...halved, ...limits })
      if (importing.exitCode !== 0) throw new Error('the import failed, or took too long')
      say(`  during the import: ${during.requests} requests, ${figuresOf(during)}`)
      return { ours: during.p99, theirs: during.p50 }
    },
  }
}
