import { once } from 'node:events'
import { readNdjson } from '../src/intake/lines.ts'
import type { Config } from '../src/platform/config.ts'
import { openConnection } from '../src/store/postgres/driver/connection.ts'
import type { PostgresServer } from '../test/support/postgres-server.ts'
import { addressesOf } from '../test/support/test-database.ts'
import { median, say } from './beside-bare.ts'
import { account, fill } from './world.ts'

const ROUNDS = 3
const tables = ['fiat_account', 'fiat_account_full']

/** Compares an NDJSON import with a bare COPY of the same rows into the same indexed tables. */
export async function compareImportWithCopy(
  server: PostgresServer,
  config: Config,
  records: number,
): Promise<void> {
  const lines = Array.from({ length: records }, (_, at) =>
    Buffer.from(`${JSON.stringify(account(at))}\n`),
  )
  const [address] = addressesOf(server.url('postgres', 'bursar_template'))
  if (address === undefined) throw new Error('no address')
  // A superuser, because COPY FROM refuses tables with row-level security.
  const admin = openConnection(address, { parameters: {}, connectTimeoutMs: 5000 })
  const empty = () =>
    admin.execute(
      `truncate bursar.fiat_account, bursar.fiat_account_full, bursar.revision; checkpoint`,
    )
  const rates = { copy: [] as number[], imported: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    await empty()
    rates.imported.push(await rateOf(records, () => fill(config, readNdjson(chunksOf(lines)))))
    const stored = new Map<string, Buffer[]>()
    for (const table of tables) stored.set(table, await copyOut(admin, table))
    await empty()
    rates.copy.push(
      await rateOf(records, async () => {
        await admin.execute('begin')
        for (const [table, rows] of stored) await copyBack(admin, table, rows)
        await admin.execute('commit')
      }),
    )
  }
  await empty()
  await admin.close()
  const [copy, imported] = [median(rates.copy), median(rates.imported)]
  say(
    `import: ${Math.round(imported)} records/s, bare COPY of the same rows ${Math.round(copy)} records/s, ratio ${(imported / copy).toFixed(2)}`,
  )
}

type Connection = ReturnType<typeof openConnection>

async function* chunksOf(lines: readonly Buffer[]): AsyncIterable<Uint8Array> {
  for (let at = 0; at < lines.length; at += 100) yield Buffer.concat(lines.slice(at, at + 100))
}

async function rateOf(records: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (records * 1000) / (performance.now() - startedAt)
}

/** The rows as lines for COPY, in the order of the import file. */
async function copyOut(connection: Connection, table: string): Promise<Buffer[]> {
  const rows = await connection.query({
    text: `select array_to_string(array[${columnsOf(table)
      .map((column) => `coalesce(replace(${column}::text, '\\', '\\\\'), '\\N')`)
      .join(', ')}], E'\\t') || E'\\n' from bursar.${table} order by right(id::text, 12)`,
  })
  return rows.map(([line]) => line ?? Buffer.alloc(0))
}

async function copyBack(connection: Connection, table: string, rows: readonly Buffer[]) {
  const stream = await connection.copyIn(
    `copy bursar.${table} (${columnsOf(table).join(', ')}) from stdin`,
  )
  for (let at = 0; at < rows.length; at += 100) {
    if (!stream.write(Buffer.concat(rows.slice(at, at + 100)))) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'finish')
}

const columnsOf = (table: string): string[] =>
  table === 'fiat_account'
    ? [
        'customer_id',
        'deleted',
        'position',
        'id',
        'ref_id',
        'body',
        'deleted_at',
        'updated_at',
        'source_version',
        'stored_at',
      ]
    : ['customer_id', 'id', 'deleted', 'body']
