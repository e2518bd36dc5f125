import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asTenant } from '@bursar/contract'
import { positionOf } from '@bursar/records'
import { fiatAccount } from '../packages/contract/src/resources/fiat-account.ts'
import { hexOf } from '../packages/postgres/src/driver/connection.ts'
import { readingSessions } from '../packages/postgres/src/driver/sessions.ts'
import { pageQuery } from '../packages/postgres/src/records/page-query.ts'
import { cores, pinToCores } from '../test/support/cores.ts'
import { configOf, temporaryFolder } from '../test/support/harness.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { firstPage } from '../test/support/selection.ts'
import { startProcess } from '../test/support/server-process.ts'
import { prepareServer } from '../test/support/test-database.ts'
import { type OpenedStore, serverEnv } from './embedded.ts'
import type { ImportTarget } from './rows/imports.ts'
import { openReadWorld } from './rows/read-world.ts'
import { accounts, BIG, customerOf, fill, idOf, microsOf } from './world.ts'

const DATABASE = 'bursar_template'
/** Scripts of pgbench, each with another page. It takes at most 128. */
const SCRIPTS = 100

/**
 * Fills a database of Debian's PostgreSQL, which operators use, and starts a server on it. The
 * database shares its core with the load, or with the server where `sharesCore` is set.
 */
export async function openPostgres(
  records: number,
  sharesCore: boolean,
): Promise<OpenedStore & { readonly superuser: string }> {
  const folder = temporaryFolder()
  const server = await startPostgres({
    version: process.env.BURSAR_TEST_POSTGRES === 'newest' ? 'newest' : 'debian',
    settings: [
      'fsync = on',
      'full_page_writes = on',
      'synchronous_commit = on',
      'shared_buffers = 1GB',
      'max_wal_size = 8GB',
    ],
  })
  await prepareServer(server)
  const env = {
    DATABASE_URL: server.url('bursar', DATABASE),
    OPERATOR_DATABASE_URL: server.url('bursar_operator', DATABASE),
    BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const config = configOf(env)
  await fill(config, accounts(records))
  const superuser = server.url('postgres', DATABASE)
  execFileSync(tool('psql'), ['-X', '-q', '-c', 'vacuum analyze', superuser])
  pinToCores(sharesCore ? cores.server : cores.load, server.process.pid ?? 0)
  const service = await startProcess(['dist/main.js', 'serve'], {
    env: { ...env, ...serverEnv },
  })
  const sqlRate = async (limit: number, seconds: number) =>
    pgbench({ folder, url: server.url('bursar', DATABASE), records, limit, seconds })
  const goals = { get: 0.45, coldList: 0.2, hotList: 0.4, nginx: 0.4, quote: 0.3 }
  const world = await openReadWorld(
    { config, url: service.url, records },
    { folder, goals, sqlRate },
  )
  return {
    config,
    env,
    superuser,
    imports: importTarget({ folder, env, superuser }),
    world,
    service,
    stop: async () => {
      await service.stop()
      await server.stop()
    },
  }
}

type Target = {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly superuser: string
}

/** The database of the reads. COPY fills an empty table with the same columns and indexes. */
function importTarget({ folder, env, superuser }: Target): ImportTarget {
  const psql = (...commands: readonly string[]) => {
    const words = commands.flatMap((command) => ['-c', command])
    const options = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1']
    return execFileSync(tool('psql'), [...options, ...words, superuser], { encoding: 'utf8' })
  }
  const rows = join(folder, 'deposit-addresses.copy')
  const columns = psql(
    `select string_agg(attname, ',') from pg_attribute
     where attrelid = 'bursar.deposit_address'::regclass and attnum > 0
       and attgenerated = '' and not attisdropped`,
  ).trim()
  return {
    env,
    bulk: 'COPY',
    goals: { bytes: 3, startMs: 500 },
    reset: () => psql('truncate bursar.deposit_address'),
    bulkRate: () => {
      // The order of the file that was imported.
      const select = `select ${columns} from bursar.deposit_address order by right(id::text, 12)`
      psql(
        'drop table if exists copied',
        'create table copied (like bursar.deposit_address including all)',
        `\\copy (${select}) to ${rows}`,
      )
      const startedAt = performance.now()
      psql(`\\copy copied (${columns}) from ${rows}`)
      return (Number(psql('select count(*) from copied')) * 1000) / (performance.now() - startedAt)
    },
    bytes: () => Number(psql("select pg_total_relation_size('bursar.deposit_address')")),
  }
}

type Pages = {
  readonly folder: string
  readonly url: string
  readonly records: number
  readonly limit: number
  readonly seconds: number
}

/** Runs the service's statement, prepared, for pages after random records, in sixteen sessions. */
async function pgbench({ folder, url, records, limit, seconds }: Pages): Promise<number> {
  const scripts = Array.from({ length: SCRIPTS }, (_, at) => {
    const script = join(folder, `page-${at}.sql`)
    writeFileSync(script, `${pageOf(Math.floor((records * (at + 1)) / (SCRIPTS + 1)), limit)};\n`)
    return ['-f', script]
  })
  const settings = Object.entries({ ...readingSessions(5000), enable_memoize: 'off' }).map(
    ([name, to]) => `-c ${name}=${to}`,
  )
  const words = ['-n', '-M', 'prepared', '-c', '16', '-j', '2', '-T', String(seconds)]
  const output = execFileSync(tool('pgbench'), [...words, ...scripts.flat(), url], {
    env: { ...process.env, PGOPTIONS: settings.join(' ') },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return Number(/tps = ([\d.]+)/.exec(output)?.[1])
}

/** The statement of a page of the big customer after a record, with its values as literals. */
function pageOf(record: number, limit: number): string {
  const at = customerOf(record) === BIG ? record : record + 1
  const after = positionOf(microsOf(at), idOf(at))
  const { text, values = [] } = pageQuery(fiatAccount.resource, {
    tenant: asTenant(BIG),
    selection: { ...firstPage, limit, after },
  })
  const literals = values.map((value) =>
    value instanceof Uint8Array
      ? `'${hexOf(value)}'::bytea`
      : typeof value === 'string'
        ? `'${value}'::text`
        : `${value}::bigint`,
  )
  return text.replaceAll(/\$(\d)/g, (_, n) => literals[Number(n) - 1] ?? '').replaceAll(/\s+/g, ' ')
}

/** Debian installs the clients in a folder named after the version. */
function tool(name: string): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root) : []
  const found = versions.map((version) => join(root, version, 'bin', name)).find(existsSync)
  return found ?? name
}
