import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../test/support/harness.ts'
import { askKept, fillKept, keptEnv, keptFiles, writeKept } from '../test/support/kept-store.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { openTestDatabase, prepareServer } from '../test/support/test-database.ts'

/**
 * Keeps a small store of this version under `test/stores/`, of each engine, with what it answers.
 * A release runs it once. It needs Debian's PostgreSQL, whose `pg_dump` writes plain SQL.
 */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

async function keepSqlite() {
  const folder = temporaryFolder()
  const env = { ...keptEnv, DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}` }
  const answers = await askKept(env, await fillKept(env))
  for (const name of keptFiles.sqlite) writeKept(version, name, readFileSync(join(folder, name)))
  return answers
}

async function keepPostgres() {
  const server = await startPostgres({ version: 'debian' })
  try {
    process.env.BURSAR_TEST_POSTGRES_PORT = String(server.port)
    await prepareServer(server)
    const { url, operatorUrl, superuserUrl } = await openTestDatabase()
    const env = { ...keptEnv, DATABASE_URL: url, OPERATOR_DATABASE_URL: operatorUrl }
    const answers = await askKept(env, await fillKept(env))
    const words = [
      '--schema=bursar',
      '--schema=bursar_audit',
      '--inserts',
      '--no-owner',
      '--no-privileges',
      superuserUrl,
    ]
    const dump = execFileSync('pg_dump', words, { encoding: 'utf8' })
    // Lines for psql alone.
    const [name] = keptFiles.postgres
    writeKept(version, name, Buffer.from(dump.replaceAll(/^\\.*$/gm, '')))
    return answers
  } finally {
    await server.stop()
  }
}

const answers = { sqlite: await keepSqlite(), postgres: await keepPostgres() }
writeKept(version, 'answers.json', Buffer.from(JSON.stringify(answers)))
console.log(`kept test/stores/${version}`)
