import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cores } from './cores.ts'
import { killWithUs } from './kill-with-us.ts'

export type Listening = { readonly url: string; readonly pid: number; stop(): Promise<void> }

type StartOptions = {
  readonly env?: Readonly<Record<string, string>>
  /** A program instead of this Node. */
  readonly program?: string
}

/** Starts a server on the core of servers and waits for the line with its URL. */
export async function startProcess(
  words: readonly string[],
  { env = {}, program = process.execPath }: StartOptions = {},
): Promise<Listening> {
  const child = spawn('taskset', ['-c', cores.server, program, ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // A measurement that fails must not leave its servers behind.
  killWithUs(child)
  const url = await urlOf(child)
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** What a script prints that runs alone on the core of servers. */
export function pinnedOutput(words: readonly string[]): string {
  const pinned = ['-c', cores.server, process.execPath, ...words]
  return execFileSync('taskset', pinned, { encoding: 'utf8' })
}

function urlOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const found = /https?:\/\/[^\s"]+/.exec(output)
      if (found !== null) resolve(found[0])
    })
    child.on('exit', () => reject(new Error(`the server ended before it listened: ${output}`)))
  })
}
