import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The program in a process of its own, as an operator starts it. */
export type Program = {
  readonly process: ChildProcess
  /** What it prints first: a line on stdout. Rejects where it ends before that. */
  readonly firstLine: Promise<string>
  /** Resolves when it has taken all of its stdin but what the pipe holds. */
  readonly taken: Promise<void>
  /** What has been written to stderr so far. */
  errors(): string
  /** What has been written to stdout so far. */
  output(): string
  /** Resolves with the exit code, or null where a signal ended it. */
  readonly ended: Promise<number | null>
  /** Ends it and waits until it has. */
  kill(signal?: NodeJS.Signals): Promise<number | null>
}

const main = new URL('../../src/main.ts', import.meta.url).pathname

export type ProgramOptions = {
  readonly env?: Readonly<Record<string, string>>
  /** What it reads on stdin; without it stdin is closed. */
  readonly stdin?: string
  /** Never ends stdin, so that it waits for more. */
  readonly stdinStays?: 'open'
}

export function startProgram(words: readonly string[], options: ProgramOptions = {}): Program {
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...options.env },
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  let errors = ''
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stdin?.on('error', () => {})
  const taken = new Promise<void>((resolve) => {
    if (child.stdin === null) resolve()
    else child.stdin.write(options.stdin ?? '', () => resolve())
  })
  if (options.stdinStays === undefined) child.stdin?.end()
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const firstLine = new Promise<string>((resolve, reject) => {
    if (child.stdout !== null) createInterface(child.stdout).once('line', resolve)
    void ended.then((code) => reject(new Error(`it ended with ${code}: ${errors}`)))
  })
  firstLine.catch(() => {})
  return {
    process: child,
    taken,
    firstLine,
    errors: () => errors,
    output: () => output,
    ended,
    kill: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

/** Runs a command to its end. */
export async function runProgram(words: readonly string[], options: ProgramOptions = {}) {
  const program = startProgram(words, options)
  const code = await program.ended
  return { code, output: program.output(), errors: program.errors() }
}
