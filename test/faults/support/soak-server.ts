import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Program, startProgram } from '../../support/program.ts'
import { untilHolds } from '../../support/until.ts'
import { send, statusOf } from './client.ts'

/** A server whose clock can be set. It is started again whenever it has ended. */
export type SoakServer = {
  readonly url: string
  /** The running process. */
  program(): Program
  pid(): number
  /** What the logs since the start say of damaged records or keys. */
  damageAlarms(): readonly string[]
  /** Shifts the clock by an offset such as `+2h`; `+0` is the right time. */
  setClock(offset: string): void
  kill(): void
  /** Ends the server for good. Resolves with its exit code. */
  stop(): Promise<number | null>
  /** Kills the server, unless it has ended, and does not start it again. */
  abandon(): Promise<void>
}

export async function openSoakServer(
  env: Readonly<Record<string, string>>,
  folder: string,
): Promise<SoakServer> {
  const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')
  assert.ok(library, 'The soak sets the clock with libfaketime. Install Debian’s faketime.')
  const clockFile = join(folder, 'clock')
  const setClock = (offset: string) => writeFileSync(clockFile, offset)
  setClock('+0')
  const faked = {
    ...env,
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_NO_CACHE: '1',
    // Timers must go on while the clock jumps.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  const url = `http://127.0.0.1:${env.PORT}`
  let isStopped = false
  let program: Program
  const earlierAlarms: string[] = []
  const run = async () => {
    while (!isStopped) {
      program = startProgram(['serve', '--json'], { env: faked })
      await program.ended
      earlierAlarms.push(...alarmsOf(program))
    }
  }
  const running = run()
  const kill = () => void program.process.kill('SIGKILL')
  await untilReady(url)
  return {
    url,
    program: () => program,
    damageAlarms: () => [...earlierAlarms, ...alarmsOf(program)],
    pid: () => program.process.pid ?? 0,
    setClock,
    kill,
    stop: async () => {
      isStopped = true
      const code = await program.kill('SIGTERM')
      await running
      return code
    },
    abandon: async () => {
      isStopped = true
      kill()
      await running
    },
  }
}

const alarmsOf = (program: Program): readonly string[] =>
  `${program.output()}${program.errors()}`
    .split('\n')
    .filter((line) => /damaged|does not open/.test(line))

/** The descriptors and the resident memory, in MiB, of a process. Undefined once it has ended. */
export function usageOf(pid: number) {
  try {
    const descriptors = readdirSync(`/proc/${pid}/fd`).length
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kib = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])
    return { descriptors, residentMiB: kib / 1024 }
  } catch {
    return undefined
  }
}

const untilReady = (url: string): Promise<void> =>
  untilHolds('the server is ready', async () => statusOf(await send(url, '/readyz')) === 200)
