import { Argument, Command } from 'commander'
import { type Config, loadConfig } from '../platform/config.ts'
import { recordKinds } from '../resources/catalogue.ts'

/** The options that every command takes. */
export type CommonOptions = {
  readonly database?: string
  readonly config?: string
  readonly json?: boolean
}

/** A command with the common options. The description is a sentence in the imperative. */
export function newCommand(
  name: string,
  description: string,
  json = 'Print one JSON object to stdout and nothing else.',
): Command {
  return new Command(name)
    .description(description)
    .option('--database <url>', 'The store, in the form of DATABASE_URL.')
    .option('--config <file>', 'The configuration file (default: bursar.config.json if it exists).')
    .option('--json', json)
}

/** The configuration of a command. Throws a ConfigError with every fault. */
export function configOf(
  options: CommonOptions,
  flags: Readonly<Partial<Record<keyof Config, string>>> = {},
): Config {
  return loadConfig({
    flags: { ...flags, ...(options.database !== undefined && { databaseUrl: options.database }) },
    env: process.env,
    file: options.config,
  })
}

/** Ends the command with exit code 2 if there is a fault in its options. */
export function refuseUsage(command: Command, fault: string | undefined): void {
  if (fault !== undefined) command.error(fault, { exitCode: 2 })
}

/** The argument of a command that is about one kind of record. */
export const kindArgument = () => new Argument('<kind>', 'The kind of record.').choices(recordKinds)

export const isPrintable = (text: string): boolean => /^[^\p{Cc}]{1,200}$/u.test(text)
