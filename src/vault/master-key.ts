import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../platform/config.ts'
import { Secret } from '../platform/secret.ts'
import type { Random } from './random.ts'
import { type MasterKey, masterKeyOf } from './wrap.ts'

/** New keys are wrapped under `current`; `previous` only opens what is still wrapped under it. */
export type MasterKeys = { readonly current: MasterKey; readonly previous: MasterKey | undefined }

export type MasterKeyDeps = {
  readonly masterKey: Secret | undefined
  readonly previousMasterKey: Secret | undefined
  /** Where the embedded store keeps a master key beside itself; undefined for a store that has no such place. */
  readonly keyFile: string | undefined
  /** A store that already holds keys must not be given a fresh master: nothing would open. */
  readonly storeHoldsKeys: boolean
  readonly random: Random
}

/** BURSAR_MASTER_KEY, or the key file, made on the first start. Throws a ConfigError that says what to do. */
export function openMasterKeys(deps: MasterKeyDeps): MasterKeys {
  const previous = deps.previousMasterKey && masterKeyOf(deps.previousMasterKey)
  if (deps.masterKey !== undefined) return { current: masterKeyOf(deps.masterKey), previous }
  const { keyFile } = deps
  if (keyFile === undefined) {
    throw new ConfigError(
      'BURSAR_MASTER_KEY is not set. Set it to the 32 bytes in base64 that this store was started with; for a new store make one with `openssl rand -base64 32` and keep a copy.',
    )
  }
  if (existsSync(keyFile)) return { current: masterKeyOf(readKeyFile(keyFile)), previous }
  if (deps.storeHoldsKeys) {
    throw new ConfigError(
      `The master key is missing: BURSAR_MASTER_KEY is not set and ${keyFile} does not exist, but the store holds keys wrapped under one. Put the file back, or set BURSAR_MASTER_KEY to what it held.`,
    )
  }
  writeKeyFile(keyFile, deps.random(32).toString('base64'))
  return { current: masterKeyOf(readKeyFile(keyFile)), previous }
}

const OTHERS = 0o077

function readKeyFile(path: string): Secret {
  const descriptor = openSync(path, 'r')
  try {
    const { mode } = fstatSync(descriptor)
    // Windows has no such bits; Node reports 0666 there for every file.
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      throw new ConfigError(
        `${path} holds the master key and can be read or written by others. Run \`chmod 600 ${path}\`; if someone may have read it, move to another master key as docs/decisions/0005-master-key.md says.`,
      )
    }
    const text = readFileSync(descriptor, 'utf8').trim()
    if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) {
      throw new ConfigError(
        `${path} does not hold a master key (32 bytes in base64). Put the right file back, or set BURSAR_MASTER_KEY.`,
      )
    }
    return new Secret(text)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Writes beside the path and links into place: of two processes that start at once one wins, the other reads
 * the winner's, and neither ever sees half a file.
 */
function writeKeyFile(path: string, base64: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.draft`
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    writeSync(descriptor, `${base64}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    unlinkSync(draft)
  }
}

// The name must reach the disk before the first key is wrapped, or a power cut would keep the keys and lose
// the master.
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
