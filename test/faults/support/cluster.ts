import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { openLog, systemRandom, systemTime } from '@bursar/base'
import { customerScopes } from '@bursar/contract'
import { type ImportReport, importEntries } from '@bursar/intake'
import { createSampleClient } from '@bursar/oauth'
import { openOperatorStores, type Stores } from '@bursar/server/stores'
import { migratePostgres } from '../../../packages/postgres/src/schema/migrate.ts'
import { freePort } from '../../support/free-port.ts'
import { configOf } from '../../support/harness.ts'
import {
  durableSettings,
  type PostgresServer,
  startPostgres,
} from '../../support/postgres-server.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { entriesOf, resourceOf, rules } from '../../support/record-store.ts'
import { addressesOf, roles } from '../../support/test-database.ts'
import { untilHolds } from '../../support/until.ts'
import { askServer } from './ask-server.ts'
import { send, statusOf } from './client.ts'
import { type History, openHistory } from './history.ts'
import { type Customer, customers, recordsOf } from './ledger.ts'

/** A primary, its standbys and server processes, for one test. */
export type Cluster = Deployment & {
  readonly primary: PostgresServer
  readonly standbys: readonly PostgresServer[]
  /** Resolves when every standby has replayed all that the primary has written. */
  untilLevel(): Promise<void>
}

/** Server processes, the operator's stores and customers on a database of several nodes. */
export type Deployment = {
  readonly servers: readonly BursarServer[]
  readonly urls: readonly string[]
  readonly tokens: ReadonlyMap<Customer, string>
  readonly history: History
  /** The environment of every server process. */
  readonly env: Readonly<Record<string, string>>
  /** The operator's stores, in this process. */
  readonly stores: Stores
  /** Creates a client. Its id is its name, its secret is `NAME_secret`. */
  addClient(name: string, customer: string | null, scopes: readonly string[]): Promise<void>
  /** Imports a generation of the customers' records, in one file. */
  importGeneration(who: readonly Customer[], generation: number): Promise<ImportReport>
  /** Stops traffic and imports before the cluster is closed. */
  readonly running: Set<() => Promise<unknown>>
  /** Imports fiat accounts that are not in the ledger. */
  importRecords(records: readonly unknown[]): Promise<ImportReport>
  close(): Promise<void>
}

/** The nodes of a database that has the schema. */
export type DatabaseNodes = {
  /** Any of them may be or become the primary. */
  readonly nodes: readonly Node[]
  readonly standbys: readonly Node[]
  /** Resolves when every standby has replayed all that the primary has written. */
  untilLevel(): Promise<void>
}

type Node = Pick<PostgresServer, 'port' | 'url'>

export type BursarServer = {
  readonly url: string
  readonly program: Program
  /** Starts the server again on the same port. */
  restart(): Promise<void>
}

export type ClusterOptions = {
  readonly standbys?: readonly string[]
  readonly servers?: number
  readonly settings?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The folder for the database's files. */
  readonly under?: string
}

export const databaseName = 'faults'

/**
 * No answer may be older. Standbys lag while a machine is busy, and health checks come late. How
 * old answers really were is in the tally of the traffic.
 */
const staleMs = 60_000

export async function openCluster(options: ClusterOptions = {}): Promise<Cluster> {
  // A cluster that fails to open must leave no process, which would keep the test's from ending.
  await using opened = new AsyncDisposableStack()
  const { primary, standbys } = await openDatabase(options, opened)
  const level = () => untilLevel(primary, standbys)
  const database = { nodes: [primary, ...standbys], standbys, untilLevel: level }
  const deployment = await openDeployment(database, options, opened)
  return { ...deployment, primary, standbys, untilLevel: level }
}

/** Its `close` also closes what was opened before. */
export async function openDeployment(
  { nodes, standbys, untilLevel }: DatabaseNodes,
  options: ClusterOptions,
  opened: AsyncDisposableStack,
): Promise<Deployment> {
  const env = {
    DATABASE_URL: urlOf(nodes, 'bursar'),
    OPERATOR_DATABASE_URL: urlOf(nodes, 'bursar_operator'),
    DATABASE_READ_URLS: standbys.map((standby) => standby.url('bursar', databaseName)).join(','),
    BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
    BURSAR_PUBLIC_URL: 'https://api.example.com',
    BURSAR_ACCEPT_SAMPLE_FEES: 'true',
    // A database of a busy machine answers late. A test of this deadline sets its own.
    BURSAR_DATABASE_TIMEOUT_MS: '20000',
    LOG_LEVEL: 'warn',
    ...options.env,
  }
  const log = openLog('silent')
  const clock = systemTime.now
  const stores = await openOperatorStores({ config: configOf(env), clock, log })
  opened.defer(stores.close)
  const store = stores.credentials()
  const keyring = await stores.keyring(store)
  const history = openHistory(staleMs)
  const addClient: Deployment['addClient'] = (name, customerId, scopes) =>
    createSampleClient(
      { store, keyring, clock, random: systemRandom },
      { id: name, secret: secretOf(name), customerId, name, scopes },
    )
  for (const customer of customers) await addClient(customer, customer, customerScopes)
  const importRecords = importer(stores)
  const importGeneration = generationImporter(importRecords, history)
  await importGeneration(customers, 1)
  await untilLevel()
  const starting = Array.from({ length: options.servers ?? 3 }, () => serve(env, opened))
  const servers = await Promise.all(starting)
  const urls = servers.map(({ url }) => url)
  const running = new Set<() => Promise<unknown>>()
  const tokens = new Map<Customer, string>()
  for (const customer of customers) tokens.set(customer, await tokenOf(urls[0] ?? '', customer))
  const all = opened.move()
  return {
    servers,
    urls,
    tokens,
    history,
    env,
    stores,
    addClient,
    importRecords,
    importGeneration,
    running,
    close: async () => {
      await Promise.allSettled([...running].map((end) => end()))
      await all.disposeAsync()
      for (const { program } of servers) assertToldSafely(program.errors())
    },
  }
}

/** After any fault, the log must hold no data of a client or customer, and no internal error. */
function assertToldSafely(log: string): void {
  assert.doesNotMatch(log, /_secret|eyJ|account_number|City of|"status":500/)
}

export const secretOf = (client: string): string => `${client}_secret`

/** All hosts of the database in one URL, so that a promoted standby is found. */
const urlOf = (nodes: readonly Node[], user: string): string =>
  `postgres://${user}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${databaseName}`

/** Durable settings: a commit is on disk before it is acknowledged. */
async function openDatabase(
  options: ClusterOptions,
  opened: AsyncDisposableStack,
): Promise<Pick<Cluster, 'primary' | 'standbys'>> {
  const settings = [...durableSettings, ...followingSettings, ...(options.settings ?? [])]
  const primary = await startPostgres({
    settings,
    ...(options.under !== undefined && { under: options.under }),
  })
  opened.defer(primary.stop)
  await createSchema(primary)
  const standbys: PostgresServer[] = []
  for (const name of options.standbys ?? ['one', 'two']) {
    const standby = await primary.addStandby(name)
    opened.defer(standby.stop)
    standbys.push(standby)
  }
  const nodes = [primary, ...standbys]
  for (const [at, standby] of standbys.entries()) {
    await follow(standby, nodes, (options.standbys ?? ['one', 'two'])[at] ?? '')
  }
  return { primary, standbys }
}

/** Makes the roles, the database and its schema. */
export async function createSchema(primary: Node): Promise<void> {
  const logins =
    'create role owner login; create role bursar login; create role bursar_operator login'
  await askServer(primary, logins, 'postgres')
  await askServer(primary, `create database ${databaseName} owner owner`, 'postgres')
  await migratePostgres(addressesOf(primary.url('owner', databaseName)), roles)
}

/** A standby reconnects to the primary soon, and the primary keeps the log that it needs. */
const followingSettings = ['wal_retrieve_retry_interval = 100ms', 'wal_keep_size = 256MB']

/** Names every node, so that after a promotion the other standby follows the new primary. */
async function follow(standby: PostgresServer, nodes: readonly PostgresServer[], name: string) {
  const hosts = nodes.map(() => '127.0.0.1').join(',')
  const ports = nodes.map(({ port }) => port).join(',')
  const from = `host=${hosts} port=${ports} user=postgres application_name=${name} target_session_attrs=read-write`
  await askServer(standby, `alter system set primary_conninfo = '${from}'`)
  await askServer(standby, 'select pg_reload_conf()')
}

export async function untilLevel(primary: Node, standbys: readonly Node[]): Promise<void> {
  const [[position] = []] = await askServer(primary, 'select pg_current_wal_insert_lsn()')
  for (const standby of standbys) {
    await untilHolds('the standby is level', async () => {
      const [[isLevel] = []] = await askServer(
        standby,
        `select pg_last_wal_replay_lsn() >= '${position}'::pg_lsn`,
      )
      return isLevel === 't'
    })
  }
}

function importer(stores: Stores): Deployment['importRecords'] {
  const store = stores.records()
  const options = { dryRun: false, allowOlder: false, rules }
  return (records) => importEntries(store, resourceOf('fiat-accounts'), entriesOf(records), options)
}

function generationImporter(
  importRecords: Deployment['importRecords'],
  history: History,
): Deployment['importGeneration'] {
  return async (who, generation) => {
    for (const customer of who) history.begin(customer, generation)
    const report = await importRecords(who.flatMap((customer) => recordsOf(customer, generation)))
    for (const customer of who) {
      if (report.faults.length === 0) history.acknowledge(customer, generation)
      else history.refuse(customer, generation)
    }
    return report
  }
}

export async function serve(
  env: Readonly<Record<string, string>>,
  opened?: AsyncDisposableStack,
): Promise<BursarServer> {
  const server = await startServer(env, opened)
  await server.program.firstLine
  return server
}

/** Does not wait until the server is ready. */
export async function startServer(
  env: Readonly<Record<string, string>>,
  opened?: AsyncDisposableStack,
): Promise<BursarServer> {
  const port = String(await freePort())
  const start = () => startProgram(['serve', '--json'], { env: { ...env, PORT: port } })
  let program = start()
  opened?.defer(() => program.kill('SIGKILL').then(() => {}))
  return {
    url: `http://127.0.0.1:${port}`,
    get program() {
      return program
    },
    restart: async () => {
      program = start()
      await program.firstLine
    },
  }
}

/** Requests a token. Rejects if the server issues none. */
export async function tokenOf(url: string, client: string): Promise<string> {
  const answer = await askForToken(url, client)
  if (answer.kind === 'cut' || answer.status !== 200) {
    throw new Error(`no token: ${JSON.stringify(answer)}`)
  }
  return JSON.parse(answer.text).access_token
}

export const askForToken = (url: string, client: string) =>
  send(url, '/oauth2/token', { method: 'POST', body: credentialsOf(client) })

export const credentialsOf = (client: string): string =>
  `grant_type=client_credentials&client_id=${client}&client_secret=${secretOf(client)}`

/** Waits until every server issues tokens. */
export const untilTokens = (urls: readonly string[]): Promise<void> =>
  untilHolds('every server gives tokens', async () => {
    const answers = await Promise.all(urls.map((url) => askForToken(url, 'ash')))
    return answers.every((answer) => statusOf(answer) === 200)
  })
