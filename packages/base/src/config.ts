import { closeSync, openSync, readSync } from 'node:fs'
import { limitsOf } from './declare-limits.ts'
import { jsonFault } from './parse-json.ts'
import type { Setting } from './settings/setting-kinds.ts'
import { settings } from './settings/settings.ts'
import { closest, hintOf } from './values/closest.ts'
import { decodeText } from './values/decode-text.ts'
import { printable } from './values/printable.ts'
import { repeatedMembers } from './values/scan-json.ts'

const limits = limitsOf({
  /** A configuration file, a fee schedule or a key set. The largest has a few thousand lines. */
  configurationBytesMax: 1024 * 1024,
  /** Faults of one configuration that are listed; the rest are counted. */
  configurationFaultsMax: 100,
})

export type Config = { readonly [K in keyof typeof settings]: SettingValue<(typeof settings)[K]> }
type SettingValue<S> = S extends Setting<infer T> ? T : never

export type ConfigInput = {
  readonly flags?: Readonly<Partial<Record<keyof Config, string>>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The path of `--config`. By default `bursar.config.json` if it exists; null for no file. */
  readonly file?: string | null | undefined
}

/** Every fault of the configuration, one line each. A line names the source of the value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Flags override the environment, which overrides the file. A ConfigError holds every fault. */
export function loadConfig(input: ConfigInput): Config {
  const file = readConfigFile(input.file)
  const faults = [...file.faults, ...misspeltVariables(input.env)]
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting<unknown>>(settings)) {
    const given = firstGiven(name, setting, input, file.values)
    if (given === undefined) {
      config[name] = setting.fallback
      continue
    }
    const parsed = setting.parse(given.value)
    if ('fault' in parsed) faults.push(`${given.origin} ${parsed.fault}`)
    else config[name] = parsed.value
  }
  if (faults.length > 0) throw new ConfigError(listed(faults))
  return config as Config
}

/** The configuration file without `--config`, in the folder of the process. */
export const DEFAULT_FILE = 'bursar.config.json'

type FileValues = Readonly<Record<string, unknown>>

function firstGiven(
  name: string,
  setting: Setting<unknown>,
  input: ConfigInput,
  file: FileValues,
): { readonly origin: string; readonly value: unknown } | undefined {
  const flag = input.flags?.[name as keyof Config]
  if (flag !== undefined) return { origin: `--${setting.flag ?? name}`, value: flag }
  const variable = input.env[setting.env]
  if (variable !== undefined && variable !== '') return { origin: setting.env, value: variable }
  if (!Object.hasOwn(file, name)) return undefined
  return { origin: `${name} in the configuration file`, value: file[name] }
}

/** The faults, one a line. A broken file could have as many as it has bytes. */
export function listed(faults: readonly string[]): string {
  const more = faults.length - limits.configurationFaultsMax
  const shown = faults.slice(0, limits.configurationFaultsMax)
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

/**
 * Variables that someone took for a setting: `BURSAR_` before the name of one, or almost a name.
 * Others with the prefix are left alone: in Kubernetes a service with the name bursar sets
 * BURSAR_PORT and others in every container. A misspelt name is a fault and not a warning, which
 * nobody reads: the setting may be the one that keeps a proxy untrusted.
 */
function misspeltVariables(env: ConfigInput['env']): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (!/^(BURSAR|OPERATOR_DATABASE|DATABASE_READ)_/.test(name)) return []
    if (variables.includes(name) || isOfOrchestrator(name, value)) return []
    const rest = name.replace(/^BURSAR_/, '')
    const own = rest === name ? undefined : withoutPrefix.get(rest)
    if (own !== undefined) return [`${name} is not a setting; its variable is ${own}`]
    const meant = closest(name, variables) ?? closest(rest, [...withoutPrefix.keys()])
    const hint = meant && (withoutPrefix.get(meant) ?? meant)
    return hint === undefined ? [] : [`${printable(name)} is not a setting; did you mean ${hint}?`]
  })
}

const variables = Object.values<Setting<unknown>>(settings).map(({ env }) => env)

/** The variables without the prefix `BURSAR_`, by their name and by that of their flag. */
const withoutPrefix: ReadonlyMap<string, string> = new Map(
  Object.values<Setting<unknown>>(settings)
    .filter(({ env }) => !env.startsWith('BURSAR_'))
    .flatMap(({ env, flag = env }) => [
      [env, env],
      [flag.toUpperCase(), env],
    ]),
)

/** A person sets a port as a number, and Kubernetes as a URL. It alone sets the other names. */
const isOfOrchestrator = (name: string, value: string): boolean =>
  /^BURSAR_([A-Z0-9]+_)*(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d[A-Z0-9_]*)$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value))

function readConfigFile(path: string | null | undefined): { values: FileValues; faults: string[] } {
  if (path === null) return { values: {}, faults: [] }
  const file = path ?? DEFAULT_FILE
  const name = printable(file, 1000)
  const read = readTextFile(file)
  if ('fault' in read) {
    // Only the default file may be missing. A file that exists must be readable.
    return {
      values: {},
      faults: read.isAbsent && path === undefined ? [] : [`${name} ${read.fault}`],
    }
  }
  try {
    const values: unknown = JSON.parse(read.text)
    if (typeof values !== 'object' || values === null || Array.isArray(values)) {
      return { values: {}, faults: [`${name} must hold one JSON object`] }
    }
    const unknown = Object.keys(values).filter((key) => !Object.hasOwn(settings, key))
    const faults = [
      ...unknown.map(
        (key) => `${name} has ${printable(key)}, which is not a setting${hintFor(key)}`,
      ),
      ...repeatedMembers(read.text, values).map((key) => `${name} has ${printable(key)} twice`),
    ]
    return { values: values as Record<string, unknown>, faults }
  } catch (error) {
    return { values: {}, faults: [`${name} is not JSON: ${jsonFault(error)}`] }
  }
}

/** A key may also be the name of a variable. */
function hintFor(key: string): string {
  const named = Object.entries<Setting<unknown>>(settings).find(([, { env }]) => env === key)?.[0]
  return hintOf(named ?? key, Object.keys(settings))
}

/** The text of a file, or why there is none: the rest of a sentence that starts with its name. */
export type TextFile =
  | { readonly text: string }
  | { readonly fault: string; readonly isAbsent: boolean }

/**
 * Reads a configuration file, a fee schedule or a key set. It may be a pipe, so its size is known
 * only after reading.
 */
export function readTextFile(path: string): TextFile {
  const { configurationBytesMax } = limits
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, 'r')
    const buffer = Buffer.alloc(configurationBytesMax + 1)
    let bytes = 0
    for (let read = -1; read !== 0 && bytes < buffer.length; bytes += read) {
      read = readSync(descriptor, buffer, bytes, buffer.length - bytes, null)
    }
    if (bytes <= configurationBytesMax) {
      return { isAbsent: false, ...decodeText(buffer.subarray(0, bytes)) }
    }
    return { fault: `has more than ${configurationBytesMax} bytes`, isAbsent: false }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { fault: `cannot be read: ${reasons[code ?? ''] ?? code}`, isAbsent: code === 'ENOENT' }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
}
