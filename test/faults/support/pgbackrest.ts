import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  durableSettings,
  owned,
  type PostgresServer,
  runAs,
  startPostgres,
} from '../../support/postgres-server.ts'
import { debianProgram } from './debian-program.ts'
import { blockWith } from './running-document.ts'

/** Debian's PostgreSQL with pgBackRest, by examples/pgbackrest and the lines of docs/running.md. */
export type BackedUp = {
  readonly server: PostgresServer
  /** Runs each line of the block of docs/running.md that contains a text. */
  run(text: string, replace?: (block: string) => string): void
  /** Loses the machine: the server is killed and its files are removed. */
  lose(): Promise<void>
}

const example = 'examples/pgbackrest/pgbackrest.conf'

export async function startBackedUp(opened: AsyncDisposableStack): Promise<BackedUp> {
  const program = debianProgram('/usr/bin/pgbackrest', 'pgbackrest')
  const folder = owned(mkdtempSync(join(tmpdir(), 'bursar-pgbackrest-')))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const configuration = join(folder, 'pgbackrest.conf')
  const command = `${program} --config=${configuration}`
  const documented = (text: string) => blockWith(text).replaceAll('pgbackrest --', `${command} --`)
  const server = await startPostgres({
    version: 'debian',
    settings: [...durableSettings, ...documented('archive_command').trim().split('\n')],
  })
  opened.defer(server.stop)
  const values: Readonly<Record<string, string>> = {
    'repo1-path': folderIn(folder, 'repository'),
    'log-path': folderIn(folder, 'log'),
    'lock-path': folderIn(folder, 'lock'),
    'spool-path': folderIn(folder, 'spool'),
    'pg1-path': server.folder,
    'pg1-port': String(server.port),
  }
  writeFileSync(configuration, withValues(readFileSync(example, 'utf8'), values))
  return {
    server,
    run: (text, replace = (block) => block) => {
      // The server of the test has no socket file, and libpq takes the host from here.
      const env = { ...process.env, PGHOST: '127.0.0.1', PGUSER: 'postgres' }
      const words = ['-euc', replace(documented(text))]
      const { status, stderr, stdout } = spawnSync('bash', words, { ...runAs, env, cwd: folder })
      assert.equal(status, 0, `${text}: ${stdout}${stderr}`)
    },
    lose: async () => {
      await server.kill('SIGKILL')
      rmSync(server.folder, { recursive: true })
      folderIn(dirname(server.folder), 'data')
    },
  }
}

function folderIn(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { mode: 0o700 })
  return owned(path)
}

/** The example's lines with the values of this test. Every value must replace one of them. */
const withValues = (lines: string, values: Readonly<Record<string, string>>): string =>
  Object.entries(values).reduce((text, [name, value]) => {
    const line = new RegExp(`^${name}=.*$`, 'm')
    assert.match(text, line)
    return text.replace(line, `${name}=${value}`)
  }, lines)
