import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { killWithUs } from './kill-with-us.ts'
import { untilHolds } from './until.ts'

const configuration = new URL('../../examples/cluster/haproxy.cfg', import.meta.url).pathname

/** Debian's folder of the program is on root's path only. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }

/** Starts haproxy with the configuration of examples/cluster in front of three servers. */
export async function startHaproxy(
  port: number,
  servers: readonly number[],
): Promise<ChildProcess> {
  const [one, two, three] = servers.map((each) => `127.0.0.1:${each}`)
  const listen = `127.0.0.1:${port}`
  const child = spawn('haproxy', ['-db', '-q', '-f', configuration], {
    env: { ...env, BURSAR_LISTEN: listen, BURSAR_ONE: one, BURSAR_TWO: two, BURSAR_THREE: three },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  killWithUs(child)
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  await untilHolds('haproxy listens', async () => {
    if (failure !== undefined) throw failure
    if (child.exitCode !== null) throw new Error('haproxy did not start')
    return !(await isFree(port))
  })
  return child
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
