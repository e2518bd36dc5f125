import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { openEmbedded, serverEnv } from './embedded.ts'
import { measureAndExit } from './measured-store.ts'
import { openPostgres } from './postgres.ts'
import { type Row, report, say, writeResults } from './report.ts'
import { besideTokensRow } from './rows/beside-tokens.ts'
import { duringImportRow } from './rows/during-import.ts'
import { importRows } from './rows/imports.ts'
import { memoryRow } from './rows/memory.ts'
import { measureMetrics } from './rows/metrics.ts'
import { readRows } from './rows/reads.ts'
import { writeRows } from './rows/writes.ts'

/**
 * Compares the service with what bounds it, side by side: `npm run bench`. The load is wrk's, on a
 * separate core. The service is the built one, as the package installs it.
 *
 *     --store embedded|postgres|postgres-shared   --quick   --rows PATTERN (rows whose names match)
 *
 * A whole run writes `bench/results/`. One with a pattern replaces its rows in today's results.
 */
const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'embedded' },
    quick: { type: 'boolean', default: false },
    rows: { type: 'string', default: '' },
  },
})
const [rounds, seconds] = values.quick ? [3, 1] : [5, 3]
const records = Number(process.env.RECORDS ?? (values.quick ? 50_000 : 200_000))

execFileSync(process.execPath, ['tools/build-package.ts'])
const isPostgres = values.store.startsWith('postgres')
const store = isPostgres
  ? await openPostgres(records, values.store === 'postgres-shared')
  : await openEmbedded(records)
// What is left running are references, which end with this process.
await measureAndExit(store, async () => {
  say(`Node ${process.version}, ${records} records, ${rounds} rounds of ${seconds} s`)
  const { config, service, world } = store
  const selected = ({ name }: Row) => new RegExp(values.rows).test(name)
  const measure = async (rows: readonly Row[]) => {
    for (const row of rows.filter(selected)) await report(row, rounds)
  }
  await measure([memoryRow('memory of an idle server', service, 'VmRSS', 80)])
  await measure(await readRows({ world, service, seconds }))
  await measure(await writeRows({ config, service, seconds, goal: world.goals.quote }))
  await measure([besideTokensRow({ config, world, service, seconds })])
  await measure([memoryRow('memory under load', service, 'VmHWM', 200)])
  const { env } = store
  const serving = { ...env, ...serverEnv }
  await measureMetrics({ env: serving, world, service, seconds }, measure)
  await measure([duringImportRow({ env, world, service, seconds, records: 5 * records })])
  // On PostgreSQL the next server opens the same store, with another URL.
  await service.stop()
  await measure(importRows({ folder: world.folder, records, target: store.imports }))
  if (!values.quick) writeResults(values.store, { records, rounds, seconds }, values.rows !== '')
})
