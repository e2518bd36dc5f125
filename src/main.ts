#!/usr/bin/env node
import { Command } from 'commander'
import { backupCommand } from './cli/backup/backup.ts'
import { restoreCommand } from './cli/backup/restore.ts'
import { clientCommand } from './cli/client.ts'
import { exportCommand } from './cli/export.ts'
import { feeCommand } from './cli/fee.ts'
import { importCommand } from './cli/import.ts'
import { keysCommand } from './cli/keys.ts'
import { migrateCommand } from './cli/migrate.ts'
import { standardOutput } from './cli/output.ts'
import { runCommand } from './cli/run-command.ts'
import { sandboxCommand } from './cli/sandbox.ts'
import { serveCommand } from './cli/serve.ts'
import { withCredentials } from './cli/with-stores.ts'
import { systemClock } from './platform/clock.ts'
import { version } from './platform/version.ts'

const output = standardOutput
const credentials = { withCredentials, print: output.print }

const program = new Command('bursar')
  .description('Serve the read side of a settlement service over an HTTP JSON API.')
  .version(version)
  .addCommand(serveCommand(output))
  .addCommand(sandboxCommand(output))
  .addCommand(migrateCommand(output))
  .addCommand(importCommand(output))
  .addCommand(exportCommand())
  .addCommand(backupCommand(output, systemClock))
  .addCommand(restoreCommand(output, systemClock))
  .addCommand(clientCommand(credentials))
  .addCommand(keysCommand(credentials))
  .addCommand(feeCommand(output, systemClock))

await runCommand(program, output)
