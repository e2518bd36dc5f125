import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { customerScopes } from '@bursar/contract'
import { cores } from '../../test/support/cores.ts'
import { fetchToken } from '../../test/support/harness.ts'
import type { PostgresServer } from '../../test/support/postgres-server.ts'
import { type Listening, startProcess } from '../../test/support/server-process.ts'
import { execute } from '../../test/support/test-database.ts'
import { serverEnv } from '../embedded.ts'
import { timed, type Used } from '../timed.ts'

export type Env = Readonly<Record<string, string>>

/** The settings of a store. */
type Store = Env & { readonly DATABASE_URL: string }

/** Where the sides keep their stores: files of a folder, or databases of a server. */
export type Place = { readonly folder: string; readonly postgres: PostgresServer | undefined }

/** A built program with stores of its own, and a server on the first of them. */
export type Side = {
  readonly name: string
  readonly service: Listening
  /** One for each of the customers, and that of a writer of the operator. */
  readonly tokens: readonly string[]
  readonly writer: string
  readonly client: { readonly clientId: string; readonly clientSecret: string }
  /** Seconds of the processor that the server has used. */
  processorSeconds(): number
  /** Makes a new store, and gives the settings of its commands. */
  newStore(): Promise<Store>
  /** Runs a command on a store. */
  run(words: readonly string[], store: Store): Used
  start(): Promise<Listening>
}

const SCOPES = 'ingest:write_fiat_accounts,ingest:read_record,ingest:read_history,ingest:search'

type Program = {
  readonly name: string
  /** The checkout whose built package runs. */
  readonly folder: string
}

export async function openSide(
  { name, folder }: Program,
  place: Place,
  { customers, files }: { customers: readonly string[]; files: readonly (readonly string[])[] },
): Promise<Side> {
  const main = resolve(folder, 'dist/main.js')
  const masterKey = randomBytes(32).toString('base64')
  let made = 0
  const pinned = (words: readonly string[]) => [
    '-c',
    cores.server,
    process.execPath,
    main,
    ...words,
  ]
  const silent = (given: Env): Env => ({ LOG_LEVEL: 'silent', ...given })
  const command = (words: readonly string[], given: Env) =>
    execFileSync('taskset', pinned(words), {
      env: { ...process.env, ...silent(given) },
      encoding: 'utf8',
      stdio: 'pipe',
    })
  const newStore = async (): Promise<Store> => {
    made += 1
    const store = `${name}_${made}`
    if (place.postgres === undefined) {
      mkdirSync(join(place.folder, store))
      return { DATABASE_URL: `sqlite:${join(place.folder, store, 'bursar.db')}` }
    }
    const urlOf = (role: string) => place.postgres?.url(role, store) ?? ''
    await execute(
      place.postgres.url('postgres', 'postgres'),
      `create database ${store} owner owner`,
    )
    command(['migrate'], { DATABASE_URL: urlOf('owner') })
    return {
      DATABASE_URL: urlOf('bursar'),
      OPERATOR_DATABASE_URL: urlOf('bursar_operator'),
      BURSAR_MASTER_KEY: masterKey,
    }
  }
  const first = await newStore()
  const start = () => startProcess([main, 'serve'], { env: { ...first, ...serverEnv } })
  for (const words of files) command(['import', ...words], first)
  const clientOf = (options: readonly string[]) => {
    const words = ['client', 'create', '--name', 'bench', '--json', ...options]
    const { client_id, client_secret } = JSON.parse(command(words, first))
    return { customerId: '', clientId: client_id, clientSecret: client_secret }
  }
  const clients = customers.map((id) =>
    clientOf(['--customer', id, '--scope', customerScopes.join()]),
  )
  const writer = clientOf(['--operator', '--scope', SCOPES])
  const service = await start()
  const tokens: string[] = []
  for (const client of clients) tokens.push(await fetchToken(service.url, client))
  return {
    name,
    service,
    tokens,
    writer: await fetchToken(service.url, writer),
    client: writer,
    processorSeconds: () => processorSecondsOf(service.pid),
    newStore,
    run: (words, given) => timed(['taskset', ...pinned(words)], silent(given)),
    start,
  }
}

/** Linux counts in hundredths of a second. */
function processorSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program may have blanks, and ends with the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
