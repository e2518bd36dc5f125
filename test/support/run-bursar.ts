import { spawn } from 'node:child_process'
import { once } from 'node:events'

export type Ran = { readonly code: number | null; readonly out: string; readonly err: string }

/** Runs a command of the program in its own process over the given store. */
export async function runBursar(
  databaseUrl: string,
  words: readonly string[],
  stdin: string | Uint8Array = '',
  // Tests compare stderr, so they leave out the log line of a command.
  { LOG_LEVEL = 'warn' }: { readonly LOG_LEVEL?: string } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, ['src/main.ts', ...words], {
    env: { ...process.env, LOG_LEVEL, DATABASE_URL: databaseUrl },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const printed = { out: '', err: '' }
  // A multi-byte character may be split between two chunks; the decoder joins it.
  child.stdout.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  child.stdout.on('data', (chunk) => {
    printed.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    printed.err += chunk
  })
  child.stdin.end(stdin)
  const [code] = await once(child, 'close')
  return { code, ...printed }
}
