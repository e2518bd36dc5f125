import { Readable } from 'node:stream'
import { printableLines } from '@bursar/base'
import { programOf } from '../../packages/cli/src/commands.ts'
import type { Output } from '../../packages/cli/src/output.ts'
import { runCommand } from '../../packages/cli/src/run-command.ts'
import { testMasterKey } from './test-database.ts'

/** Commands that run beside each other end in any order. The last one restores the environment. */
let running = 0
let ownEnvironment = process.env

export type Ran = { readonly code: number; readonly out: string; readonly err: string }

/**
 * Runs a command in this process over the given store, since a separate process starts slowly.
 * What is about signals, pipes or log lines needs `runProgram`.
 */
export async function runBursar(
  databaseUrl: string,
  words: readonly string[],
  stdin: string | Uint8Array | Readable = '',
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const { output, printed } = collectOutput()
  const input = stdin instanceof Readable ? stdin : Readable.from([Buffer.from(stdin)])
  const program = await programOf(words, output, input)
  if (running === 0) ownEnvironment = process.env
  running += 1
  const listening = signals.map((signal) => process.listeners(signal))
  const keyed = databaseUrl.startsWith('postgres:') ? { BURSAR_MASTER_KEY: testMasterKey() } : {}
  process.env = {
    ...ownEnvironment,
    LOG_LEVEL: 'silent',
    DATABASE_URL: databaseUrl,
    ...keyed,
    ...env,
  }
  try {
    const code = await runCommand(program, words, output)
    return { code, ...printed() }
  } finally {
    running -= 1
    if (running === 0) process.env = ownEnvironment
    // `serve` listens for signals, and still does when it refuses to start.
    for (const [at, signal] of signals.entries()) {
      for (const listener of process.listeners(signal)) {
        if (!listening[at]?.includes(listener)) process.off(signal, listener)
      }
    }
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** An output that keeps what a command writes, in the form in which it reaches the streams. */
export function collectOutput() {
  const out: string[] = []
  const err: string[] = []
  const print = (text: string) => void out.push(`${printableLines(text)}\n`)
  const output: Output = {
    print,
    write: async (piece) => void out.push(piece),
    reveal: async (text) => print(text),
    tell: (text) => void err.push(`${printableLines(text)}\n`),
  }
  return { output, printed: () => ({ out: out.join(''), err: err.join('') }) }
}
