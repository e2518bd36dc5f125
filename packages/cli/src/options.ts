import {
  areHostsShared,
  type Config,
  ConfigError,
  hintOf,
  loadConfig,
  programName,
} from '@bursar/base'
import { recordKinds } from '@bursar/contract'
import { Argument, Command, InvalidArgumentError, type Option } from 'commander'

/** The options that every command takes. */
export type CommonOptions = {
  readonly database?: string
  readonly config?: string
  readonly json?: boolean
  readonly auditHead?: boolean
}

/**
 * A command with the common options. The description is a sentence in the imperative. The examples
 * are what to type, without the name of the program.
 */
export function newCommand(
  name: string,
  description: string,
  examples: readonly string[],
  json = 'Print one JSON object to stdout and nothing else.',
): Command {
  return withExamples(new Command(name), examples)
    .description(description)
    .option('--database <url>', 'The store, in the form of DATABASE_URL.')
    .option('--config <file>', 'The configuration file (default: bursar.config.json if it exists).')
    .option('--json', json)
    .option('--audit-head', 'Print the end of the command’s chain in the audit log to stderr.')
}

/** Has the help show what to type, without the name of the program. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  ${programName()} ${example}`)
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'))
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

/** Throws a ConfigError if a server is to have one port for customers and for its operator. */
export function requireOwnPorts({ host, port, operatorHost, operatorPort }: Config): void {
  if (port !== operatorPort || port === 0 || !areHostsShared(host, operatorHost)) return
  throw new ConfigError(
    `the operator has the port of the API, ${port}; choose another one with BURSAR_OPERATOR_PORT or PORT`,
  )
}

/** Ends the command with exit code 2 if there is a fault in its options. */
export function refuseUsage(command: Command, fault: string | undefined): void {
  if (fault !== undefined) command.error(fault, { exitCode: 2 })
}

/** An argument or an option with a few words as its values. */
export function oneOf<T extends Argument | Option>(named: T, words: readonly string[]): T {
  named.choices(words)
  named.argParser((given: string) => {
    if (words.includes(given)) return given
    const hint = hintOf(given, words) || '.'
    throw new InvalidArgumentError(`Allowed choices are ${words.join(', ')}${hint}`)
  })
  return named
}

/** The argument of a command that is about one kind of record. */
export const kindArgument = () => oneOf(new Argument('<kind>', 'The kind of record.'), recordKinds)

export const isPrintable = (text: string): boolean => /^[^\p{Cc}]{1,200}$/u.test(text)
