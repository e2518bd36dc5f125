#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { exportCommand } from './cli/export.ts'
import { importCommand } from './cli/import.ts'
import { migrateCommand } from './cli/migrate.ts'
import { CommandFailed, standardOutput } from './cli/output.ts'
import { sandboxCommand } from './cli/sandbox.ts'
import { serveCommand } from './cli/serve.ts'
import { ConfigError } from './platform/config.ts'
import { version } from './program.ts'

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
const FAILED = 1
const WRONG_USAGE = 2

const program = new Command('bursar')
  .description("a settlement service's read side over an HTTP JSON API")
  .version(version)
  .addCommand(serveCommand(standardOutput))
  .addCommand(sandboxCommand(standardOutput))
  .addCommand(migrateCommand(standardOutput))
  .addCommand(importCommand(standardOutput))
  .addCommand(exportCommand())

for (const command of [program, ...program.commands]) command.exitOverride()

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version end this way too, and commander has printed what there is to say.
    return error.exitCode === 0 ? 0 : WRONG_USAGE
  }
  if (error instanceof ConfigError) {
    standardOutput.tell(error.message)
    return WRONG_USAGE
  }
  if (error instanceof CommandFailed) {
    standardOutput.tell(error.message)
    return FAILED
  }
  standardOutput.tell(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return FAILED
}
