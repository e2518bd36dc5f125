import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, limitsOf, openFileCipher, openFileDecipher } from '@bursar/base'
import { StoreUnavailable } from './unavailable.ts'

const limits = limitsOf({
  /** Lines of an import in memory before they go to its file, and read from it at a time. */
  spoolPieceBytes: 1024 * 1024,
  /** Free space that imports leave on the disk of their files; PostgreSQL may share it. */
  spoolFreeBytesMin: 256 * 1024 * 1024,
})

/**
 * Text that waits for the end of its import, or for the reader of its export. It holds no session
 * and no transaction. On the disk it is enciphered, with a key that is in memory only.
 */
export type Spool = {
  /** Returns a promise when the disk cannot keep up. */
  write(text: string): Promise<void> | undefined
  isEmpty(): boolean
  /** What was written, in pieces. */
  read(): AsyncIterable<Uint8Array>
  /** Removes the file. May be called twice. */
  close(): Promise<void>
}

export type SpoolOptions = {
  readonly folder: string
  /** What all files of the folder may have together. */
  readonly bytesMax: number
}

/** Bytes that another process reads from their file, once all of them were received. */
export type ReceivedFile = {
  /** Returns a promise when the disk cannot keep up. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** Writes what is left in memory, and resolves with the file and what deciphers it. */
  complete(): Promise<{ readonly path: string; readonly key: Uint8Array }>
  /** Removes the file. May be called twice. */
  close(): Promise<void>
}

/** The files of the imports and exports of this user, on one machine. */
export type Spools = {
  open(): Spool
  openReceived(): ReceivedFile
  /** Removes the files that killed processes have left. */
  removeAbandoned(): void
}

export const spoolFolderOf = ({ spoolFolder }: Pick<Config, 'spoolFolder'>): string =>
  spoolFolder ?? join(tmpdir(), `bursar-spool-${process.getuid?.() ?? 'files'}`)

/** The files of this configuration. */
export const openSpoolsOf = (config: Pick<Config, 'spoolFolder' | 'spoolMegabytesMax'>): Spools =>
  openSpools({
    folder: spoolFolderOf(config),
    bytesMax: MEGABYTE * config.spoolMegabytesMax,
  })

const MEGABYTE = 1_000_000

/** Removes the files that killed processes have left. */
export function openSpools({ folder, bytesMax }: SpoolOptions): Spools {
  const createFile = openFiles(folder)
  const openPieces = () => openFile(folder, bytesMax, createFile)
  const removeAbandoned = () => {
    for (const name of filesIn(folder)) {
      // A process that still reads its file would lose no more than the name of it.
      if (!isOfLiveProcess(name)) rmSync(join(folder, name), { force: true })
    }
  }
  removeAbandoned()
  return {
    open: () => openSpool(openPieces()),
    openReceived: () => openReceived(openPieces()),
    removeAbandoned,
  }
}

type SpoolFile = {
  readonly path: string
  readonly handle: FileHandle
  close(): Promise<void>
}

/** Creates files, and removes those that are left when a signal ends a command. */
function openFiles(folder: string) {
  const paths = new Set<string>()
  const removeAll = () => {
    for (const path of paths) rmSync(path, { force: true })
  }
  return async (): Promise<SpoolFile> => {
    makeFolder(folder)
    const path = join(folder, `${process.pid}-${startOf('self')}-${randomUUID()}${ENDING}`)
    const handle = await open(path, 'wx+', 0o600)
    if (paths.size === 0) process.once('exit', removeAll)
    paths.add(path)
    return {
      path,
      handle,
      close: async () => {
        await handle.close()
        rmSync(path, { force: true })
        paths.delete(path)
        if (paths.size === 0) process.off('exit', removeAll)
      },
    }
  }
}

type Pieces = {
  /** Deciphers the file. */
  readonly key: Uint8Array
  /** Waits for the write before it, and begins this one. */
  add(bytes: Buffer): Promise<void>
  /** The file with everything that was added. Undefined if nothing was. */
  written(): Promise<SpoolFile | undefined>
  close(): Promise<void>
}

/** Writes pieces to a file, which its first piece creates. */
function openFile(folder: string, bytesMax: number, createFile: () => Promise<SpoolFile>): Pieces {
  let file: SpoolFile | undefined
  let writing = Promise.resolve()
  const { key, encipher } = openFileCipher()
  return {
    key,
    add: async (clear) => {
      // In the order of the calls, which is that of the file.
      const bytes = encipher(clear)
      await writing
      writing = describingFaults(folder, async () => {
        file ??= await createFile()
        requireSpace(folder, bytes.length, bytesMax)
        await file.handle.writeFile(bytes)
      })
      // The next call reports the failure.
      writing.catch(() => {})
    },
    written: async () => {
      await writing
      return file
    },
    close: async () => {
      await writing.catch(() => {})
      await file?.close()
      file = undefined
    },
  }
}

/** Keeps the first piece in memory, so that a short import needs no file. */
function openSpool({ key, add, written, close }: Pieces): Spool {
  let waiting: string[] = []
  let characters = 0
  let hasAdded = false
  const flush = () => {
    const bytes = Buffer.from(waiting.join(''))
    waiting = []
    characters = 0
    hasAdded = true
    return add(bytes)
  }
  return {
    write: (text) => {
      waiting.push(text)
      characters += text.length
      return characters < limits.spoolPieceBytes ? undefined : flush()
    },
    isEmpty: () => !hasAdded && characters === 0,
    read: async function* () {
      const file = await written()
      if (file !== undefined) yield* piecesOf(file.handle, key)
      if (characters > 0) yield Buffer.from(waiting.join(''))
    },
    close,
  }
}

function openReceived({ key, add, written, close }: Pieces): ReceivedFile {
  let waiting: Uint8Array[] = []
  let bytes = 0
  const flush = () => {
    const piece = Buffer.concat(waiting)
    waiting = []
    bytes = 0
    return add(piece)
  }
  return {
    write: (chunk) => {
      waiting.push(chunk)
      bytes += chunk.length
      return bytes < limits.spoolPieceBytes ? undefined : flush()
    },
    complete: async () => {
      // A file without a byte is a file too.
      await flush()
      const file = await written()
      assert(file !== undefined, 'the last piece has created the file')
      return { path: file.path, key }
    },
    close,
  }
}

async function* piecesOf(handle: FileHandle, key: Uint8Array): AsyncIterable<Uint8Array> {
  const decipher = openFileDecipher(key)
  for (let at = 0; ; ) {
    const piece = Buffer.allocUnsafe(limits.spoolPieceBytes)
    const { bytesRead } = await handle.read(piece, 0, piece.length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield decipher.update(piece.subarray(0, bytesRead))
  }
}

const ENDING = '.spool'

/** In the system's temporary folder another user may have made it first. */
function makeFolder(folder: string): void {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  const { uid } = statSync(folder)
  if (process.getuid === undefined || uid === process.getuid()) return
  throw new StoreUnavailable(
    `another user owns ${folder}, where imports and exports keep their lines; set BURSAR_SPOOL_FOLDER to a folder of this user`,
  )
}

function requireSpace(folder: string, bytes: number, bytesMax: number): void {
  const used = filesIn(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0)
  if (used + bytes > bytesMax) {
    throw new StoreUnavailable(
      `the lines of imports and exports fill ${folder} to its limit of ${bytesMax} bytes; nothing was changed; raise BURSAR_SPOOL_MEGABYTES_MAX, or wait for the others`,
    )
  }
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize - bytes < limits.spoolFreeBytesMin) throw fullDisk(folder)
}

const fullDisk = (folder: string) =>
  new StoreUnavailable(
    `the disk of ${folder}, where imports and exports keep their lines, is full; nothing was changed; free some space, or set BURSAR_SPOOL_FOLDER to a folder of another disk`,
  )

async function describingFaults<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw fullDisk(folder)
    throw new StoreUnavailable(
      `${folder} cannot keep the lines of imports and exports (${code}); nothing was changed; correct its permissions, or set BURSAR_SPOOL_FOLDER to another folder`,
      { cause: error },
    )
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(ENDING))
  } catch {
    // Nobody has needed the folder yet.
    return []
  }
}

/** Another process may remove its file at any time. */
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Whether the process that named a file still runs. Another one may have its number by now. */
function isOfLiveProcess(name: string): boolean {
  const [pid = '', start] = name.split('-')
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return startOf(pid) === start
}

/** When a process began, by Linux; the same for every process elsewhere. */
function startOf(pid: string): string {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may hold blanks and brackets.
    return state.slice(state.lastIndexOf(')')).split(' ')[20] ?? '0'
  } catch {
    return '0'
  }
}
