import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { freePort } from '../../test/support/free-port.ts'
import { startHaproxy } from '../../test/support/haproxy.ts'
import {
  durableSettings,
  type PostgresServer,
  startPostgres,
} from '../../test/support/postgres-server.ts'

/**
 * A cluster without containers: a primary, two streaming standbys, three server processes and,
 * where it is installed, haproxy before them. Takes commands on stdin; Ctrl-C ends it and leaves
 * nothing behind (README.md).
 */
const { values: options } = parseArgs({
  options: {
    /** haproxy's; the servers have the three after it. 0 takes free ones. */
    port: { type: 'string', default: '8080' },
    /** `newest` is the PostgreSQL that the npm packages bring, `debian` the system's own. */
    postgres: { type: 'string', default: 'newest' },
  },
})

const main = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname
const names: readonly string[] = ['one', 'two', 'three']
const nodeNames: readonly string[] = ['primary', 'standby one', 'standby two']
const folder = mkdtempSync(join(tmpdir(), 'bursar-cluster-'))
const databases: PostgresServer[] = []
const servers: (ChildProcess | undefined)[] = []
let balancer: ChildProcess | undefined

async function end(code: number): Promise<never> {
  for (const child of [balancer, ...servers]) child?.kill('SIGKILL')
  await Promise.allSettled(databases.map((database) => database.stop()))
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}

async function start(): Promise<void> {
  await startDatabases()
  const env = environment()
  await run(['migrate'], { ...env, DATABASE_URL: urlOf('owner') })
  const ports = await choosePorts()
  const [balancerPort = 0, ...serverPorts] = ports
  const hasBalancer = spawnSync('haproxy', ['-v']).status === 0
  const publicUrl = `http://127.0.0.1:${hasBalancer ? balancerPort : serverPorts[0]}`
  const serving = { ...env, BURSAR_PUBLIC_URL: publicUrl, BURSAR_TRUSTED_PROXIES: '127.0.0.1' }
  await Promise.all(serverPorts.map((port, at) => startServer(at, port, serving)))
  if (hasBalancer) balancer = await startHaproxy(balancerPort, serverPorts)
  const file = join(folder, 'environment')
  writeFileSync(file, exportsOf(env), { mode: 0o600 })
  console.log('Bursar’s cluster is ready. Ctrl-C ends it and takes it away.\n')
  tell('API', hasBalancer ? publicUrl : `${publicUrl} (haproxy is not installed)`)
  for (const [at, port] of serverPorts.entries()) {
    tell(`server ${names[at]}`, `http://127.0.0.1:${port}`)
  }
  for (const [at, database] of databases.entries()) {
    tell(nodeNames[at] ?? '', `127.0.0.1:${database.port}`)
  }
  tell('environment', file)
  console.log('\nCommands: kill server one, start server one, kill primary, promote')
  const commands = createInterface({ input: process.stdin })
  commands.on('line', (line) => {
    obey(line.trim(), serverPorts, serving).then(console.log, (error: Error) =>
      console.log(error.message),
    )
  })
}

const tell = (name: string, value: string) => console.log(`  ${name.padEnd(14)}${value}`)

/** An acknowledged write is on the primary's disk and on one standby's. */
async function startDatabases(): Promise<void> {
  const version = options.postgres === 'debian' ? 'debian' : 'newest'
  const settings = [...durableSettings, 'wal_retrieve_retry_interval = 1s', 'wal_keep_size = 256MB']
  const primary = await startPostgres({ version, settings })
  databases.push(primary)
  for (const role of ['owner', 'bursar', 'bursar_operator']) {
    await ask(primary, `create role ${role} login`, 'postgres')
  }
  await ask(primary, 'create database bursar owner owner', 'postgres')
  for (const name of ['one', 'two']) databases.push(await primary.addStandby(name))
  const hosts = databases.map(() => '127.0.0.1').join(',')
  const ports = databases.map(({ port }) => port).join(',')
  for (const [at, standby] of databases.slice(1).entries()) {
    // Every node is named: after a promotion the other standby follows the new primary by itself.
    const from = `host=${hosts} port=${ports} user=postgres application_name=${names[at]} target_session_attrs=read-write`
    await ask(standby, `alter system set primary_conninfo = '${from}'`)
  }
  for (const node of databases) {
    await ask(node, `alter system set synchronous_standby_names = 'ANY 1 (one, two)'`)
    await ask(node, 'select pg_reload_conf()')
  }
}

const urlOf = (user: string): string =>
  `postgres://${user}@${databases.map(({ port }) => `127.0.0.1:${port}`).join(',')}/bursar`

const environment = () => ({
  DATABASE_URL: urlOf('bursar'),
  OPERATOR_DATABASE_URL: urlOf('bursar_operator'),
  DATABASE_READ_URLS: databases
    .slice(1)
    .map((standby) => standby.url('bursar', 'bursar'))
    .join(','),
  BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
  BURSAR_ACCEPT_SAMPLE_FEES: 'true',
  LOG_LEVEL: 'warn',
})

const exportsOf = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('')

async function ask(server: PostgresServer, sql: string, database = 'bursar'): Promise<string> {
  const session = postgres(server.url('postgres', database), { max: 1, onnotice: () => {} })
  try {
    const [row] = await session.unsafe(sql).values()
    return String(row?.[0])
  } finally {
    await session.end()
  }
}

async function run(words: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [main, ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`bursar ${words.join(' ')} ended with ${code}`)
}

async function choosePorts(): Promise<number[]> {
  const first = Number(options.port)
  if (first !== 0) return [first, first + 1, first + 2, first + 3]
  return [await freePort(), await freePort(), await freePort(), await freePort()]
}

async function startServer(at: number, port: number, env: Readonly<Record<string, string>>) {
  const words = [main, 'serve', '--port', String(port)]
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  servers[at] = child
  await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`server ${names[at]} did not start`))),
  ])
}

async function obey(
  command: string,
  serverPorts: readonly number[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const [, verb, name] = /^(kill|start) server (one|two|three)$/.exec(command) ?? []
  const at = names.indexOf(name ?? '')
  if (verb === 'kill') {
    servers[at]?.kill('SIGKILL')
    return `server ${name} is killed`
  }
  if (verb === 'start') {
    await startServer(at, serverPorts[at] ?? 0, env)
    return `server ${name} is back`
  }
  if (command === 'kill primary') {
    await databases[0]?.kill('SIGKILL')
    return 'the primary is killed'
  }
  return command === 'promote' ? await promote() : `there is no command ${command}`
}

/** The standby that has received most: it has all that was ever acknowledged. */
async function promote(): Promise<string> {
  const received = `select coalesce(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0', -1)`
  const standbys = await Promise.all(
    databases
      .slice(1)
      .map(async (server, at) => ({ server, at, position: BigInt(await ask(server, received)) })),
  )
  const [most] = standbys.toSorted((a, b) => (a.position > b.position ? -1 : 1))
  if (most === undefined) throw new Error('there is no standby')
  await ask(most.server, 'select pg_promote()')
  return `${nodeNames[most.at + 1]} is the primary`
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(0))
start().catch(async (error: Error) => {
  console.error(error.message)
  await end(1)
})
