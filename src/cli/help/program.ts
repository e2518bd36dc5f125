import type { Readable } from 'node:stream'
import { Command } from 'commander'
import { systemClock } from '../../platform/clock.ts'
import { programName, version } from '../../platform/version.ts'
import { backupCommand } from '../backup/backup.ts'
import { reconcileCommand } from '../backup/reconcile.ts'
import { restoreCommand } from '../backup/restore.ts'
import { clientCommand } from '../client.ts'
import { exportCommand } from '../export.ts'
import { feeCommand } from '../fee.ts'
import { historyCommand } from '../history.ts'
import { importCommand } from '../import/import.ts'
import { keysCommand } from '../keys.ts'
import { migrateCommand } from '../migrate.ts'
import type { Output } from '../output.ts'
import { sandboxCommand } from '../sandbox.ts'
import { serveCommand } from '../serve.ts'
import { verifyCommand } from '../verify.ts'
import { withCredentials } from '../with-stores.ts'
import { examples } from './examples.ts'

/** Every command, with its help in one style and an example each. `import -` reads `stdin`. */
export function programOf(output: Output, stdin: Readable = process.stdin): Command {
  const credentials = { withCredentials, print: output.print, reveal: output.reveal }
  const program = new Command(programName())
    .description('Serve the read side of a settlement service over an HTTP JSON API.')
    .version(version, '-V, --version', 'Print the version.')
    .addCommand(serveCommand(output))
    .addCommand(sandboxCommand(output))
    .addCommand(migrateCommand(output))
    .addCommand(importCommand(output, stdin))
    .addCommand(exportCommand(output))
    .addCommand(historyCommand(output))
    .addCommand(backupCommand(output, systemClock))
    .addCommand(restoreCommand(output, systemClock))
    .addCommand(reconcileCommand(output))
    .addCommand(clientCommand(credentials))
    .addCommand(keysCommand(credentials))
    .addCommand(feeCommand(output, systemClock))
    .addCommand(verifyCommand(output))
  complete(program, '', output)
  return program
}

/** Gives a command and those below it their help. `path` is what to type for it. */
function complete(command: Command, path: string, output: Output): void {
  // `runCommand` sets the exit code.
  command.exitOverride()
  command.helpOption('-h, --help', 'Show this help.')
  if (command.commands.length > 0)
    command.helpCommand('help [command]', 'Show the help of a command.')
  const lines = (examples[path] ?? []).map((example) => `  ${programName()} ${example}`)
  if (lines.length > 0) command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'))
  // A word that the shell passed on may hold control characters.
  command.configureOutput({
    writeOut: (text) => output.print(text.trimEnd()),
    writeErr: (text) => output.tell(text.trimEnd()),
    outputError: (text, write) => write(`${text.trimEnd()}${hintFor(text, path)}\n`),
  })
  for (const child of command.commands) complete(child, `${path} ${child.name()}`.trim(), output)
}

/** Commander's own messages start with `error:`. Those of a command already say what to change. */
const hintFor = (text: string, path: string): string =>
  text.startsWith('error: ') ? `\nSee ${programName()} ${`${path} --help`.trim()}` : ''
