import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type Listening = { readonly url: string; readonly pid: number; stop(): Promise<void> }

/** Starts a server with this Node in its own process and waits for the line with its URL. */
export async function startProcess(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Listening> {
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
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
