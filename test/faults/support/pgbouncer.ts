import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { killWithUs } from '../../support/kill-with-us.ts'
import { owned, type PostgresServer, runAs } from '../../support/postgres-server.ts'
import { until } from '../../support/until.ts'

const program = '/usr/sbin/pgbouncer'
export const hasPgBouncer = existsSync(program)

export type PgBouncer = { url(user: string, database: string): string; stop(): Promise<void> }

/** Starts Debian's PgBouncer in front of a server. */
export async function startPgBouncer(
  server: PostgresServer,
  options: { readonly mode: 'session' | 'transaction'; readonly lines?: readonly string[] },
): Promise<PgBouncer> {
  const folder = owned(mkdtempSync(join(tmpdir(), 'bursar-pgbouncer-')))
  const port = await freePort()
  const write = (name: string, lines: readonly string[]): string => {
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
    return owned(join(folder, name))
  }
  const users = ['postgres', 'owner', 'bursar', 'bursar_operator'].map((user) => `"${user}" ""`)
  const file = write('pgbouncer.ini', [
    '[databases]',
    `* = host=127.0.0.1 port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${write('users.txt', users)}`,
    `pool_mode = ${options.mode}`,
    'max_client_conn = 200',
    ...(options.lines ?? []),
  ])
  const child = spawn(program, [file], { ...runAs, stdio: ['ignore', 'ignore', 'pipe'] })
  killWithUs(child)
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-20_000)
  })
  const answers = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${log}`)
    const socket = connect(port, '127.0.0.1')
    const is = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return is
  }
  await until(answers)
  return {
    url: (user, database) => `postgres://${user}@127.0.0.1:${port}/${database}`,
    stop: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
