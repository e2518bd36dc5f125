import type { Command } from 'commander'
import { type Config, loadConfig } from '../platform/config.ts'

/** The options that every command takes. */
export type CommonOptions = {
  readonly database?: string
  readonly config?: string
  readonly json?: boolean
}

export function withCommonOptions(command: Command): Command {
  return command
    .option('--database <url>', 'the store, as DATABASE_URL names it')
    .option(
      '--config <file>',
      'the configuration file (default: bursar.config.json where it exists)',
    )
    .option('--json', 'one JSON document on stdout, nothing else')
}

/** Flags over environment over file over defaults; throws a ConfigError that names every fault. */
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
