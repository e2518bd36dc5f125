import { ConfigError, outOfDescriptors } from '@bursar/base'
import { StoreRefused, StoreUnavailable } from '@bursar/records'
import { type Command, CommanderError } from 'commander'
import { CommandFailed, cannotWrite, type Output } from './output.ts'

// Exit codes. 0 means success.
const FAILED = 1
const WRONG_USAGE = 2

/** Runs the command that the words name, and sets the exit code of the process. */
export async function runProcess(
  program: Command,
  words: readonly string[],
  output: Output,
): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe early. That is not a failure.
    const isFailure = error.code !== 'EPIPE'
    if (isFailure) output.tell(`${cannotWrite(error)}; check what was done before you repeat it`)
    process.exit(isFailure ? FAILED : 0)
  })
  const exitCode = await runCommand(program, words, output)
  // A server that ended its workers has set it.
  if (exitCode !== 0) process.exitCode = exitCode
}

/** Runs the command that the words name. Prints a fault, and resolves with the exit code. */
export async function runCommand(
  program: Command,
  words: readonly string[],
  output: Output,
): Promise<number> {
  try {
    await program.parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    if (!(error instanceof CommanderError)) output.tell(sentenceOf(error))
    return exitCodeOf(error)
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return WRONG_USAGE
  if (error instanceof CommandFailed) return error.exitCode
  if (!(error instanceof CommanderError)) return FAILED
  // --help and --version end with code 0. `commander.error` comes from a command that chose its
  // code. Every other CommanderError is a usage error.
  const isChosen = error.exitCode === 0 || error.code === 'commander.error'
  return isChosen ? error.exitCode : WRONG_USAGE
}

type SystemError = NodeJS.ErrnoException & {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

/** What the operator can fix is one sentence. Anything else is a defect and shows its stack. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isKnown = [ConfigError, StoreUnavailable, StoreRefused, CommandFailed].some(
    (known) => error instanceof known,
  )
  if (isKnown) return error.message
  const { code, address, port, hostname }: SystemError = error
  switch (code) {
    case 'EMFILE':
    case 'ENFILE':
      return outOfDescriptors
    case 'EADDRINUSE':
      return `${address}:${port} is already in use; choose another port with --port or PORT`
    case 'EADDRNOTAVAIL':
      return `${address} is not an address of this machine; choose another with --host or HOST`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host name ${hostname} cannot be resolved; check its spelling`
    case 'ERR_SQLITE_ERROR':
      return `the store cannot be used: ${error.message}; check DATABASE_URL, the file's owner and the free disk space`
    case 'EACCES':
    case 'EEXIST':
    case 'EPERM':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EROFS':
    case 'ENOSPC':
      return error.message
    default:
      return error.stack ?? error.message
  }
}
