import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A test, or the `after` of a file. */
export type Cleanups = { after(clean: () => unknown): void }

/** Starts a script that prints its URL when it is ready. Kills it after the test. */
export async function startProcess(context: Cleanups, script: string, words: string[] = []) {
  const file = new URL(script, import.meta.url).pathname
  const child = spawn(process.execPath, [file, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  context.after(kill)
  const lines = createInterface({ input: child.stdout })
  const [url] = await Promise.race([once(lines, 'line'), ended])
  assert.match(String(url), /^http:/, `${script} did not start`)
  return { url: String(url), kill }
}
