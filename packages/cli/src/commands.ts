import type { Readable } from 'node:stream'
import { programName, systemTime, version } from '@bursar/base'
import { Command } from 'commander'
import type { CredentialCommandDeps } from './client/shown-client.ts'
import { exitCodesOf } from './exit-codes.ts'
import type { Output } from './output.ts'
import { withCredentials } from './with-stores.ts'

/** What a command needs. `import -` reads `stdin`. */
type CommandDeps = { readonly output: Output; readonly stdin: Readable }

type Commands = Readonly<Record<string, (deps: CommandDeps) => Promise<Command>>>

/** Every command, in the groups of the help. A server needs the modules of no other command. */
const groups: Readonly<Record<string, Commands>> = {
  'Servers:': {
    serve: async ({ output }) => (await import('./serve.ts')).serveCommand(output),
    sandbox: async ({ output }) => (await import('./sandbox.ts')).sandboxCommand(output),
  },
  'Records:': {
    import: async ({ output, stdin }) =>
      (await import('./import/import.ts')).importCommand(output, stdin),
    imports: async ({ output }) => (await import('./imports.ts')).importsCommand(output),
    export: async ({ output }) => (await import('./export.ts')).exportCommand(output),
    history: async ({ output }) => (await import('./history.ts')).historyCommand(output),
    customer: async ({ output }) =>
      (await import('./customer/customer.ts')).customerCommand(output),
  },
  'Clients, keys and fees:': {
    client: async ({ output }) =>
      (await import('./client/client.ts')).clientCommand(credentials(output)),
    keys: async ({ output }) => (await import('./keys/keys.ts')).keysCommand(credentials(output)),
    fee: async ({ output }) => (await import('./fee.ts')).feeCommand(output, systemTime.now),
    'fee-schedule': async ({ output }) =>
      (await import('./check-schedule.ts')).feeScheduleCommand(output, systemTime.now),
  },
  'Store:': {
    migrate: async ({ output }) => (await import('./migrate.ts')).migrateCommand(output),
    backup: async ({ output }) =>
      (await import('./backup/backup.ts')).backupCommand(output, systemTime.now),
    restore: async ({ output }) =>
      (await import('./backup/restore.ts')).restoreCommand(output, systemTime.now),
    reconcile: async ({ output }) =>
      (await import('./backup/reconcile.ts')).reconcileCommand(output),
    compact: async ({ output }) => (await import('./compact.ts')).compactCommand(output),
  },
  'Checks:': {
    reindex: async ({ output }) => (await import('./reindex.ts')).reindexCommand(output),
    status: async ({ output }) => (await import('./status.ts')).statusCommand(output),
    doctor: async ({ output }) =>
      (await import('./doctor.ts')).doctorCommand(output, systemTime.now),
    healthcheck: async ({ output }) =>
      (await import('./healthcheck.ts')).healthcheckCommand(output),
    audit: async ({ output }) => (await import('./audit/audit.ts')).auditCommand(output),
    verify: async ({ output }) => (await import('./verify.ts')).verifyCommand(output),
  },
}

const credentials = ({ print, reveal, tell }: Output): CredentialCommandDeps => ({
  withCredentials,
  print,
  tell,
  reveal,
})

/**
 * The command that the first word names, or every command where it names none. Their help has one
 * style.
 */
export async function programOf(
  words: readonly string[],
  output: Output,
  stdin: Readable = process.stdin,
): Promise<Command> {
  const program = new Command(programName())
    .description('Serve the read side of a settlement service over an HTTP JSON API.')
    .version(version, '-V, --version', 'Print the version.')
  const [first = ''] = words
  const isNamed = Object.values(groups).some((commands) => Object.hasOwn(commands, first))
  for (const [group, commands] of Object.entries(groups)) {
    for (const [name, open] of Object.entries(commands)) {
      if (isNamed && name !== first) continue
      program.addCommand((await open({ output, stdin })).helpGroup(group))
    }
  }
  program.commandsGroup('Help:')
  complete(program, '', output)
  return program
}

/** Gives a command and those below it their help. `path` is what to type for it. */
function complete(command: Command, path: string, output: Output): void {
  // `runCommand` sets the exit code.
  command.exitOverride()
  command.helpOption('-h, --help', 'Show this help.')
  command.addHelpText('after', exitCodesOf(path))
  if (command.commands.length > 0)
    command.helpCommand('help [command]', 'Show the help of a command.')
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
