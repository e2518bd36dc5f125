import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cores } from '../../test/support/cores.ts'
import type { Listening } from '../../test/support/server-process.ts'
import { openLoop } from '../open-loop.ts'
import type { Row } from '../report.ts'
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

/** Lists of 100 at half of their peak while deposit addresses are imported into the same store. */
export function duringImportRow({ env, world, service, seconds, records }: Parts): Row {
  const file = join(world.folder, 'during.ndjson')
  const path = '/v2/transfer/fiat-accounts?limit=100&order=ASC'
  return {
    name: 'p99 at half of peak, during an import',
    goal: 4,
    atMost: true,
    unit: 'ms',
    reference: 'ms p50',
    rounds: 1,
    measure: async () => {
      writeFileSync(file, addressLines(records))
      const [token = ''] = world.tokens
      const asked = { url: service.url, tokens: [token], requests: [{ path }], seconds }
      const { rate } = await runWrk(asked)
      const words = ['dist/main.js', 'import', 'deposit-addresses', file]
      // The load shares that core and goes first, or its own delays would be measured.
      const pinned = ['-c', cores.load, 'nice', '-n', '19', process.execPath]
      const importing = spawn('taskset', [...pinned, ...words], {
        env: { ...process.env, ...env, LOG_LEVEL: 'silent' },
        stdio: 'ignore',
      })
      const ended = once(importing, 'exit')
      const halved = { url: service.url, token, path, rate: rate / 2, seconds: 4 * seconds }
      const { p50, p99 } = await openLoop(halved)
      if (importing.exitCode !== null) throw new Error('the import ended before the load')
      await ended
      return { ours: p99, theirs: p50 }
    },
  }
}
