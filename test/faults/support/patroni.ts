import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { killWithUs } from '../../support/kill-with-us.ts'
import { debianBinaries, owned, type PostgresServer, runAs } from '../../support/postgres-server.ts'
import { untilHolds } from '../../support/until.ts'
import { debianProgram } from './debian-program.ts'

/** A node of PostgreSQL that Patroni starts, promotes and stops. */
export type PatroniMember = Pick<PostgresServer, 'port' | 'url'> & {
  readonly name: string
  start(): void
  /** SIGKILL to Patroni and to every process of its PostgreSQL, as if the machine were lost. */
  kill(): Promise<void>
}

export type Patroni = {
  readonly members: readonly PatroniMember[]
  /** The member that etcd names as the leader, once it takes writes. */
  leader(): Promise<PatroniMember | undefined>
  /** The synchronous standby. With `synchronous_mode` Patroni promotes no other. */
  synchronous(): Promise<PatroniMember | undefined>
  /** Whether every other member follows the leader, and one of them synchronously. */
  isComplete(): Promise<boolean>
  /** Runs `patronictl switchover` and waits for its end. */
  switchOver(from: PatroniMember, to: PatroniMember): Promise<string>
}

/** The settings that docs/running.md names, and the shortest lease that Patroni takes. */
export const leaseSeconds = 20
const dcs = {
  ttl: leaseSeconds,
  loop_wait: 2,
  retry_timeout: 5,
  synchronous_mode: true,
  postgresql: {
    use_pg_rewind: true,
    parameters: { max_connections: 200, shared_buffers: '64MB', wal_keep_size: '256MB' },
  },
}

const names = ['one', 'two', 'three'] as const

/** Starts Debian's etcd and three members of Patroni, and waits until two follow the first. */
export async function startPatroni(opened: AsyncDisposableStack): Promise<Patroni> {
  const patroni = debianProgram('/usr/bin/patroni', 'patroni')
  const patronictl = debianProgram('/usr/bin/patronictl', 'patroni')
  const binaries = debianBinaries()
  const folder = owned(mkdtempSync(join(tmpdir(), 'bursar-patroni-')))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const etcd = await startEtcd(folder, opened)
  const members: Member[] = []
  for (const name of names) {
    const member = await openMember(name, { folder, etcd, patroni, binaries })
    opened.defer(member.kill)
    member.start()
    members.push(member)
    // The first makes the database. Beside it, the others could make it too.
    const [first] = members
    if (member === first) await untilHolds('there is a leader', () => isLeader(member))
  }
  const isComplete = async () => {
    const roles = await Promise.all(members.map(roleOf))
    const [leaders, followers] = [['leader'], ['replica', 'sync_standby']].map((some) =>
      roles.filter(({ role, isRunning }) => isRunning && some.includes(role)),
    )
    const hasSynchronous = roles.some(({ role }) => role === 'sync_standby')
    return leaders?.length === 1 && followers?.length === names.length - 1 && hasSynchronous
  }
  await untilHolds('every member follows the leader', isComplete, 90_000)
  return {
    members,
    leader: async () => {
      const leading = await Promise.all(members.map(isLeader))
      return members.find((_, at) => leading[at])
    },
    synchronous: async () => {
      const roles = await Promise.all(members.map(roleOf))
      return members.find((_, at) => roles[at]?.role === 'sync_standby')
    },
    isComplete,
    switchOver: async (from, to) => {
      const file = members[0]?.file ?? ''
      const words = ['-c', file, 'switchover', '--leader', from.name, '--candidate', to.name]
      const child = spawn(patronictl, [...words, '--force'], { ...runAs })
      killWithUs(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      }
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`patronictl ended with ${code}: ${output}`)
      return output
    },
  }
}

async function startEtcd(folder: string, opened: AsyncDisposableStack): Promise<string> {
  const program = debianProgram('/usr/bin/etcd', 'etcd-server')
  const [clients, peers] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const options: Readonly<Record<string, string>> = {
    name: 'one',
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': `http://${clients}`,
    'advertise-client-urls': `http://${clients}`,
    'listen-peer-urls': `http://${peers}`,
    'initial-advertise-peer-urls': `http://${peers}`,
    'initial-cluster': `one=http://${peers}`,
    'log-level': 'error',
  }
  const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(program, words, { ...runAs, stdio: 'ignore' })
  killWithUs(child)
  opened.defer(() => end(child))
  const answers = async () => {
    if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}`)
    const answer = await fetch(`http://${clients}/health`).catch(() => undefined)
    return answer?.ok === true
  }
  await untilHolds('etcd answers', answers)
  return clients
}

type Member = PatroniMember & { readonly file: string; readonly api: string }

type MemberDeps = {
  readonly folder: string
  readonly etcd: string
  readonly patroni: string
  readonly binaries: string
}

async function openMember(
  name: string,
  { folder, etcd, patroni, binaries }: MemberDeps,
): Promise<Member> {
  const port = await freePort()
  const api = `127.0.0.1:${await freePort()}`
  const home = owned(mkdtempSync(join(folder, `${name}-`)))
  const data = join(home, 'data')
  const file = join(home, 'patroni.yml')
  const trust = [
    'host replication replicator 127.0.0.1/32 trust',
    'host all all 127.0.0.1/32 trust',
  ]
  const configuration = {
    scope: 'bursar',
    name,
    restapi: { listen: api, connect_address: api },
    etcd3: { host: etcd },
    bootstrap: { dcs, initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'] },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: binaries,
      pgpass: join(home, 'pgpass'),
      pg_hba: trust,
      parameters: { unix_socket_directories: '' },
      authentication: {
        superuser: { username: 'postgres', password: 'postgres' },
        replication: { username: 'replicator', password: 'replicator' },
      },
    },
  }
  // YAML includes JSON.
  writeFileSync(owned(emptyFile(file)), JSON.stringify(configuration))
  let child: ChildProcess | undefined
  const killPostgres = () => killAll(postgresOf(data))
  return {
    name,
    port,
    api,
    file,
    url: (user, database) => `postgres://${user}@127.0.0.1:${port}/${database}`,
    start: () => {
      child = spawn(patroni, [file], { ...runAs, stdio: 'ignore' })
      killWithUs(child, killPostgres)
    },
    kill: async () => {
      const processes = postgresOf(data)
      if (child !== undefined) await end(child)
      killAll(processes)
      await untilHolds('PostgreSQL has ended', () => !processes.some(isAlive))
    },
  }
}

function emptyFile(path: string): string {
  writeFileSync(path, '', { mode: 0o600 })
  return path
}

/** The processes of a PostgreSQL. Patroni does not start it as its child. */
function postgresOf(data: string): readonly number[] {
  try {
    const [line = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', line], { encoding: 'utf8' })
    return [line, ...children.trim().split('\n')].map(Number)
  } catch {
    return []
  }
}

function killAll(processes: readonly number[]): void {
  for (const one of processes) if (isAlive(one)) process.kill(one, 'SIGKILL')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

const isLeader = async (member: Member): Promise<boolean> =>
  (await fetch(`http://${member.api}/primary`).catch(() => undefined))?.status === 200

/** The role by Patroni's API: `leader`, `sync_standby` or `replica`. */
async function roleOf(member: Member): Promise<{ role: string; isRunning: boolean }> {
  const answer = await fetch(`http://${member.api}/cluster`).catch(() => undefined)
  if (answer?.ok !== true) return { role: 'unknown', isRunning: false }
  const { members } = (await answer.json()) as {
    readonly members: readonly { name: string; role: string; state: string }[]
  }
  const found = members.find(({ name }) => name === member.name)
  return { role: found?.role ?? 'unknown', isRunning: /running|streaming/.test(found?.state ?? '') }
}
