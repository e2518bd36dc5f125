import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../config.ts'
import { limitsOf } from '../declare-limits.ts'
import { isOpenToOthers, makePrivateFolder } from '../machine/private-files.ts'
import { masterKeyForm, Secret } from '../secret.ts'
import { decodeText } from '../values/decode-text.ts'
import type { Random } from './random.ts'
import { type MasterKey, masterKeyOf } from './wrap.ts'

const limits = limitsOf({
  /** How long the program of BURSAR_KEY_COMMAND may take, and what it may print. */
  keyCommandMs: 10_000,
  keyCommandBytesMax: 1024,
})

/** `current` wraps new keys. `previous` only opens keys that it wrapped. */
export type MasterKeys = { readonly current: MasterKey; readonly previous: MasterKey | undefined }

export type MasterKeyDeps = {
  readonly masterKey: Secret | undefined
  /** The program that prints the master key, with its arguments. */
  readonly keyCommand?: readonly string[]
  readonly previousMasterKey: Secret | undefined
  /** The master key file of an embedded store. Undefined for PostgreSQL. */
  readonly keyFile: string | undefined
  /** A new master key could not open the keys that a store already holds. */
  readonly storeHoldsKeys: boolean
  readonly random: Random
}

/**
 * Reads BURSAR_MASTER_KEY, the output of BURSAR_KEY_COMMAND or the key file, which the first start
 * creates. Throws a ConfigError.
 */
export function openMasterKeys(deps: MasterKeyDeps): MasterKeys {
  const previous = deps.previousMasterKey && masterKeyOf(deps.previousMasterKey)
  const { keyFile, keyCommand = [] } = deps
  if (deps.masterKey !== undefined && keyCommand.length > 0) {
    throw new ConfigError('Set either BURSAR_MASTER_KEY or BURSAR_KEY_COMMAND, not both.')
  }
  if (deps.masterKey !== undefined) return { current: masterKeyOf(deps.masterKey), previous }
  if (keyCommand.length > 0) return { current: masterKeyOf(askKeyCommand(keyCommand)), previous }
  if (keyFile === undefined) {
    throw new ConfigError(
      'BURSAR_MASTER_KEY is not set. Set it to the master key of this store. For a new store, make one with `openssl rand -base64 32` and keep a copy.',
    )
  }
  if (existsSync(keyFile)) return { current: masterKeyOf(readKeyFile(keyFile)), previous }
  if (deps.storeHoldsKeys) {
    throw new ConfigError(
      `The master key is missing: BURSAR_MASTER_KEY is not set and ${keyFile} does not exist, but the store holds keys wrapped with a master key. Restore the file, or set BURSAR_MASTER_KEY to its content.`,
    )
  }
  writeKeyFile(keyFile, deps.random(32).toString('base64'))
  return { current: masterKeyOf(readKeyFile(keyFile)), previous }
}

/**
 * Runs the program that knows the master key. Nothing that it prints is shown: a half of a key may
 * be among it.
 */
function askKeyCommand([program = '', ...words]: readonly string[]): Secret {
  const { status, signal, error, stdout } = spawnSync(program, words, {
    encoding: 'utf8',
    killSignal: 'SIGKILL',
    maxBuffer: limits.keyCommandBytesMax,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: limits.keyCommandMs,
  })
  const refuse = (what: string): never => {
    throw new ConfigError(
      `BURSAR_KEY_COMMAND ${what}. Run ${program} by itself, as the user of this program, to see why.`,
    )
  }
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  if (code === 'ETIMEDOUT') return refuse(`took longer than ${limits.keyCommandMs / 1000} s`)
  if (code === 'ENOBUFS') return refuse('printed more than a master key')
  if (error !== undefined) return refuse(`cannot be run (${code ?? 'unknown fault'})`)
  if (signal !== null) return refuse(`was ended by ${signal}`)
  if (status !== 0) return refuse(`ended with code ${status}`)
  const text = stdout.trim()
  if (!isMasterKey(text)) return refuse('did not print a master key (32 bytes in base64)')
  return new Secret(text)
}

const isMasterKey = (text: string): boolean => new RegExp(masterKeyForm).test(text)

function readKeyFile(path: string): Secret {
  const descriptor = openSync(path, 'r')
  try {
    if (isOpenToOthers(fstatSync(descriptor).mode)) {
      throw new ConfigError(
        `${path} holds the master key, but other users can read or write it. Run \`chmod 600 ${path}\`. If someone may have read it, change the master key (docs/running.md, “The master key”).`,
      )
    }
    const read = decodeText(readFileSync(descriptor))
    if ('fault' in read) throw new ConfigError(`${path} ${read.fault}.`)
    const text = read.text.trim()
    if (!isMasterKey(text)) {
      throw new ConfigError(
        `${path} does not hold a master key (32 bytes in base64). Restore the file, or set BURSAR_MASTER_KEY.`,
      )
    }
    return new Secret(text)
  } finally {
    closeSync(descriptor)
  }
}

/** Links a complete draft to the path, so that two processes that start at once read one key. */
function writeKeyFile(path: string, base64: string): void {
  makePrivateFolder(dirname(path))
  const draft = `${path}.${process.pid}.draft`
  writeFileSync(draft, `${base64}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    unlinkSync(draft)
  }
}

/** Without this, a power failure could keep the wrapped keys and lose the master key. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
