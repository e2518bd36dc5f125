#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { clientCommand } from './cli/client.ts'
import { openCommandStores } from './cli/command-stores.ts'
import { exportCommand } from './cli/export.ts'
import { feeCommand } from './cli/fee.ts'
import { importCommand } from './cli/import.ts'
import { keysCommand } from './cli/keys.ts'
import { migrateCommand } from './cli/migrate.ts'
import { type CommonOptions, configOf } from './cli/options.ts'
import { CommandFailed, standardOutput } from './cli/output.ts'
import { sandboxCommand } from './cli/sandbox.ts'
import { serveCommand } from './cli/serve.ts'
import { systemClock } from './platform/clock.ts'
import { ConfigError } from './platform/config.ts'
import { version } from './platform/version.ts'
import { StoreUnavailable } from './store/unavailable.ts'
import { systemRandom } from './vault/random.ts'

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
const FAILED = 1
const WRONG_USAGE = 2

const output = standardOutput
const credentials = { open: openCredentialAccess, print: output.print }

const program = new Command('bursar')
  .description("a settlement service's read side over an HTTP JSON API")
  .version(version)
  .addCommand(serveCommand(output))
  .addCommand(sandboxCommand(output))
  .addCommand(migrateCommand(output))
  .addCommand(importCommand(output))
  .addCommand(exportCommand())
  .addCommand(clientCommand(credentials))
  .addCommand(keysCommand(credentials))
  .addCommand(feeCommand(output, systemClock))

throwInsteadOfExiting(program)

// A reader that has seen enough, such as `head`, ends the command; it is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : FAILED)
})

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version end this way too, and commander has printed what there is to say. Its own faults are of usage;
    // `commander.error` is a command's, which says itself how it failed.
    if (error.exitCode === 0 || error.code === 'commander.error') return error.exitCode
    return WRONG_USAGE
  }
  if (error instanceof ConfigError) {
    output.tell(error.message)
    return WRONG_USAGE
  }
  if (error instanceof StoreUnavailable || error instanceof CommandFailed) {
    output.tell(error.message)
    return FAILED
  }
  output.tell(sentenceOf(error))
  return FAILED
}

/** What an operator can mend is told in a sentence; anything else is a fault of ours and shows where. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, port, hostname } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
    hostname?: string
  }
  switch (code) {
    case 'EADDRINUSE':
      return `${address}:${port} is taken by another program; --port or PORT chooses another`
    case 'EADDRNOTAVAIL':
      return `${address} is no address of this machine; --host or HOST chooses another`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `no address is known for ${hostname}; look at how it is spelt`
    case 'ERR_SQLITE_ERROR':
      return `the store cannot be used: ${error.message}; look at DATABASE_URL, the file's owner and the disk's room`
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

function throwInsteadOfExiting(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) throwInsteadOfExiting(child)
}

async function openCredentialAccess(options: CommonOptions) {
  const config = configOf(options)
  const stores = await openCommandStores(options)
  const store = stores.credentials()
  const keyring = await stores.keyring(store).catch(async (error: unknown) => {
    await stores.close()
    throw error
  })
  return {
    store,
    keyring,
    clock: systemClock,
    random: systemRandom,
    trustedIssuers: config.trustedIssuers.map(({ issuer }) => issuer),
    close: stores.close,
  }
}
