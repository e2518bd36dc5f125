import { readFileSync } from 'node:fs'
import { repeatedMembers } from '../values/scan-json.ts'
import type { Setting } from './setting-kinds.ts'
import { settings } from './settings.ts'

export type Config = { readonly [K in keyof typeof settings]: SettingValue<(typeof settings)[K]> }
type SettingValue<S> = S extends Setting<infer T> ? T : never

export type ConfigInput = {
  readonly flags?: Readonly<Partial<Record<keyof Config, string>>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The path of `--config`. By default `bursar.config.json` is read if it exists. */
  readonly file?: string | undefined
}

/** Every fault of the configuration, one line each. A line names the source of the value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Flags override the environment, which overrides the file. A ConfigError holds every fault. */
export function loadConfig(input: ConfigInput): Config {
  const file = readConfigFile(input.file)
  const faults = file.faults.slice()
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
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return config as Config
}

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

function readConfigFile(path: string | undefined): { values: FileValues; faults: string[] } {
  const name = path ?? 'bursar.config.json'
  let text: string
  try {
    text = readFileSync(name, 'utf8')
  } catch (error) {
    const isAbsent = (error as { code?: string }).code === 'ENOENT'
    // Only the default file may be missing. A file that exists must be readable.
    return { values: {}, faults: isAbsent && path === undefined ? [] : [`${name} cannot be read`] }
  }
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values !== 'object' || values === null || Array.isArray(values)) {
      return { values: {}, faults: [`${name} must hold one JSON object`] }
    }
    const unknown = Object.keys(values).filter((key) => !Object.hasOwn(settings, key))
    const faults = [
      ...unknown.map((key) => `${name} has ${key}, which is not a setting`),
      ...repeatedMembers(text, values).map((key) => `${name} has ${key} twice`),
    ]
    return { values: values as Record<string, unknown>, faults }
  } catch (error) {
    return { values: {}, faults: [`${name} is not JSON: ${(error as Error).message}`] }
  }
}
