import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { testMasterKey } from './test-database.ts'

/** The program in its own process, as an operator starts it. */
export type Program = {
  readonly process: ChildProcess
  /** The first line on stdout. Rejects if the process ends before it. */
  readonly firstLine: Promise<string>
  /** Resolves when all of stdin has been written to the pipe. */
  readonly taken: Promise<void>
  /** Everything on stderr so far. */
  errors(): string
  /** Everything on stdout so far. */
  output(): string
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>
  /** Sends the signal and waits for the process to end. */
  kill(signal?: NodeJS.Signals): Promise<number | null>
}

export const main = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname

/** PATH, and what the setup of the run has set: caches, patient deadlines, a folder in memory. */
const { PATH = '', NODE_COMPILE_CACHE, NODE_OPTIONS, TMPDIR } = process.env
const inherited = {
  PATH,
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
  ...(NODE_OPTIONS !== undefined && { NODE_OPTIONS }),
  ...(TMPDIR !== undefined && { TMPDIR }),
}

export type ProgramOptions = {
  readonly env?: Readonly<Record<string, string>>
  /** The text on stdin; stdin is closed without it. */
  readonly stdin?: string
  /** Keeps stdin open, so that the program waits for more. */
  readonly stdinStays?: 'open'
  /** Leaves out `--create`, which `serve` gets by default because a test's folder is empty. */
  readonly mustExist?: true
}

/** The words, with `--create` for `serve`, which makes no store without it. */
function creating(words: readonly string[]): readonly string[] {
  const isGiven = ['--create', '--help'].some((word) => words.includes(word))
  return words[0] === 'serve' && !isGiven ? [...words, '--create'] : words
}

/** Tests compare the stderr of a command, so they leave out the log line that tells who ran it. */
const quiet = ([command = '']: readonly string[]): Readonly<Record<string, string>> =>
  ['serve', 'sandbox'].includes(command) ? {} : { LOG_LEVEL: 'warn' }

/** PostgreSQL has no key file, and the audit log of every command needs a key. */
function keyed({ env = {} }: ProgramOptions): Readonly<Record<string, string>> {
  const isPostgres = [env.DATABASE_URL, env.OPERATOR_DATABASE_URL].some((url) =>
    url?.startsWith('postgres:'),
  )
  return isPostgres ? { BURSAR_MASTER_KEY: testMasterKey() } : {}
}

export function startProgram(words: readonly string[], options: ProgramOptions = {}): Program {
  const given = options.mustExist === true ? words : creating(words)
  const child = spawn(process.execPath, [main, ...given], {
    env: {
      ...inherited,
      NO_COLOR: '1',
      BURSAR_LAME_DUCK_MS: '0',
      ...quiet(words),
      ...keyed(options),
      ...options.env,
    },
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

/** Runs a command and waits for it to end. */
export async function runProgram(words: readonly string[], options: ProgramOptions = {}) {
  const program = startProgram(words, options)
  const code = await program.ended
  return { code, output: program.output(), errors: program.errors() }
}
