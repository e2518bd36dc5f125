import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { RunningSandbox } from './control-client.ts'

/** A sandbox in a separate process, which the package's command starts in the right Node. */
export async function startSandboxProcess(): Promise<RunningSandbox> {
  const command = fileURLToPath(new URL('../../../bin.js', import.meta.url))
  // The channel ends the sandbox when this process is killed.
  const child = spawn(process.execPath, [command, 'sandbox', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, LOG_LEVEL: 'warn' },
  })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const ended = once(child, 'close')
  const line = await Promise.race([firstLine(child.stdout), ended.then(() => undefined)])
  if (line === undefined) throw new Error(`the sandbox did not start: ${errors.trim()}`)
  return {
    url: String(JSON.parse(line).url),
    close: async () => {
      child.kill()
      await ended
    },
  }
}

async function firstLine(stdout: NodeJS.ReadableStream | null): Promise<string | undefined> {
  if (stdout === null) return undefined
  const [line] = await once(createInterface(stdout), 'line')
  return String(line)
}
