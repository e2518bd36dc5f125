import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { limitsOf, parseJson, version } from '@bursar/base'
import type { ReadEntry } from 'tar'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { CommandFailed } from '../output.ts'

const limits = limitsOf({
  /** A manifest names two databases. */
  manifestBytesMax: 64 * 1024,
  /** Compressions of an archive, one in the other: that of the backup, and that of a person. */
  compressionsMax: 2,
  /** Bytes in a compressed archive, for each of its own. A database has some 20 at most. */
  expansionMax: 1000,
})

/** A backup is a tar file: this manifest, then the databases that it names. */
const manifestName = 'manifest.json'
const manifestSchema = Type.Object({
  format: Type.Literal('bursar-backup-1'),
  /** The version that wrote the backup. */
  bursar: Type.String(),
  created_at: Type.String(),
  files: Type.Array(
    Type.Object({ name: Type.String(), bytes: Type.Integer(), sha256: Type.String() }),
  ),
})
export type Manifest = Static<typeof manifestSchema>

type Digest = { readonly bytes: number; readonly sha256: string }

/** Packs files of a folder into a tar file, compressed if its name ends in `gz`. */
export async function packArchive(
  archive: string,
  folder: string,
  { names, createdAt, isCompressed }: PackOptions,
): Promise<Manifest> {
  const files = await digestsOf(names.map((name) => ({ name, path: join(folder, name) })))
  const manifest: Manifest = {
    format: 'bursar-backup-1',
    bursar: version,
    created_at: createdAt,
    files,
  }
  writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
  const { create } = await import('tar')
  const target = { file: archive, mode: 0o600, gzip: isCompressed }
  await create({ ...target, cwd: folder, portable: true, strict: true }, [manifestName, ...names])
  return manifest
}

type PackOptions = {
  readonly names: readonly string[]
  readonly createdAt: string
  readonly isCompressed: boolean
}

/** Reads a whole archive and compares its files with the manifest. Throws if they differ. */
export async function checkArchive(archive: string, { files }: Manifest): Promise<void> {
  const read = new Map<string, Digest>()
  await readEntries(archive, await findForm(archive), async (path, entry) => {
    read.set(path, await digestOf(entry))
  })
  for (const file of files) requireSame(archive, file, read.get(file.name))
}

/**
 * Unpacks the named files of an archive into a folder, and compares their hashes. A person may have
 * packed the files again: in another order, in a folder, with others, or compressed once more.
 */
export async function unpackArchive(
  archive: string,
  folder: string,
  names: readonly string[],
): Promise<Manifest> {
  const form = await findForm(archive)
  const { manifest, place } = await findManifest(archive, form)
  const wanted = new Map<string, Manifest['files'][number]>()
  for (const name of names) {
    const file = manifest.files.find((one) => one.name === name)
    if (file === undefined) throw notABackup(archive, `it has no ${name}`)
    wanted.set(place + name, file)
  }
  const found = new Set<string>()
  await readEntries(archive, form, async (path, entry) => {
    const file = wanted.get(path)
    if (file === undefined) return
    if (found.has(path)) throw notABackup(archive, `it has ${file.name} twice`)
    found.add(path)
    // The manifest bounds what is written.
    if (entry.size !== file.bytes) throw differs(archive, file.name)
    await using target = await open(join(folder, file.name), 'wx', 0o600)
    requireSame(archive, file, await digestOf(entry, target))
  })
  for (const [path, { name }] of wanted) {
    if (!found.has(path)) throw notABackup(archive, `it has no ${name}`)
  }
  return manifest
}

/** Where the manifest is, the files of the backup are. */
async function findManifest(archive: string, form: Form) {
  const found: { place: string; text: string }[] = []
  await readEntries(archive, form, async (path, entry) => {
    if (basename(path) !== manifestName) return
    if (entry.size > limits.manifestBytesMax) throw unknownManifest(archive)
    const text = Buffer.concat(await Array.fromAsync(entry)).toString()
    found.push({ place: path.slice(0, -manifestName.length), text })
  })
  const [first, second] = found
  if (first === undefined) throw notABackup(archive, `it has no ${manifestName}`)
  if (second !== undefined) throw notABackup(archive, `it has more than one ${manifestName}`)
  const manifest = parseJson(first.text)
  if (!Check(manifestSchema, manifest)) throw unknownManifest(archive)
  return { manifest, place: first.place }
}

/** The compressions of an archive, from the outside in. */
type Form = readonly (() => Transform)[]

/** What a file may start with instead of a tar header. */
const forms: readonly (readonly [
  start: string,
  open: (() => Transform) | undefined,
  is: string,
])[] = [
  ['1f8b', () => createGunzip(), ''],
  ['28b52ffd', () => createZstdDecompress(), ''],
  ['504b0304', undefined, 'a zip archive'],
  ['fd377a585a00', undefined, 'compressed with xz'],
  ['425a68', undefined, 'compressed with bzip2'],
  ['53514c69746520666f726d6174203300', undefined, 'a database of SQLite'],
]

/** Throws a CommandFailed that says what a file is, if it can be no tar file. */
async function findForm(archive: string): Promise<Form> {
  const refuse = (is: string) =>
    notABackup(archive, `it is ${is}; pack ${manifestName} and the databases with tar`)
  if (statSync(archive).isDirectory()) throw refuse('a folder')
  const form: (() => Transform)[] = []
  for (;;) {
    const start = await startOf(archive, form)
    const [, open, is = ''] = forms.find(([known]) => start.startsWith(known)) ?? []
    if (is !== '') throw refuse(is)
    if (open === undefined) return form
    if (form.length === limits.compressionsMax) throw refuse('compressed too often')
    form.push(open)
  }
}

async function startOf(archive: string, form: Form): Promise<string> {
  for await (const chunk of expanded(archive, form)) return chunk.toString('hex', 0, 16)
  return ''
}

/** The bytes of an archive without its compressions. */
async function* expanded(archive: string, form: Form): AsyncGenerator<Buffer> {
  const source = createReadStream(archive)
  const opened = form.reduce<Readable>((from, open) => pipeline(from, open(), () => {}), source)
  const bytesMax = limits.expansionMax * statSync(archive).size
  let bytes = 0
  try {
    for await (const chunk of opened) {
      bytes += chunk.length
      if (form.length > 0 && bytes > bytesMax) {
        throw notABackup(archive, `it has more than ${limits.expansionMax} times its size in it`)
      }
      yield chunk
    }
  } catch (error) {
    throw isOfArchive(error) ? notABackup(archive, (error as Error).message) : error
  } finally {
    source.destroy()
  }
}

/**
 * Reads the files of an archive one after the other, by their paths in it. One whose path leads out
 * of the folder where a person would unpack it is refused.
 */
async function readEntries(
  archive: string,
  form: Form,
  use: (path: string, entry: ReadEntry) => Promise<void>,
): Promise<void> {
  const { Parser } = await import('tar')
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  const used: Promise<void>[] = []
  const read = async (entry: ReadEntry) => {
    const path = posix.normalize(entry.path)
    if (/^\/|^\.\.(\/|$)/.test(path)) {
      throw notABackup(archive, 'a path in it leads out of its folder')
    }
    if (isFile(entry)) await use(path, entry)
    entry.resume()
  }
  const onReadEntry = (entry: ReadEntry) => {
    const reading = read(entry)
    reading.catch(failed.reject)
    used.push(reading)
  }
  const parser = new Parser({ strict: true, onReadEntry })
  parser.on('error', (error: Error) => {
    failed.reject(isOfArchive(error) ? notABackup(archive, error.message) : error)
  })
  const ended = new Promise<void>((resolve) => parser.on('end', resolve))
  for await (const chunk of expanded(archive, form)) {
    if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), failed.promise])
  }
  parser.end()
  // The last entry has been read when the parser ends, but not used.
  await Promise.race([ended.then(() => Promise.all(used)), failed.promise])
}

const isFile = ({ type }: ReadEntry): boolean =>
  ['File', 'OldFile', 'ContiguousFile'].includes(type)

/** Faults of the archive, not of the disk that it is on. */
const isOfArchive = (error: unknown): boolean =>
  /^(TAR_|Z_|ZSTD_)/.test(String((error as NodeJS.ErrnoException).code))

/** Reads bytes, and writes them to the target if there is one. */
async function digestOf(chunks: AsyncIterable<Buffer>, target?: FileHandle): Promise<Digest> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
    await target?.appendFile(chunk)
  }
  return { bytes, sha256: hash.digest('hex') }
}

type NamedFile = { readonly name: string; readonly path: string }

const digestsOf = (files: readonly NamedFile[]) =>
  Promise.all(
    files.map(async ({ name, path }) => ({ name, ...(await digestOf(createReadStream(path))) })),
  )

function requireSame(
  archive: string,
  file: Manifest['files'][number],
  found: Digest | undefined,
): void {
  if (found?.bytes === file.bytes && found.sha256 === file.sha256) return
  throw differs(archive, file.name)
}

const differs = (archive: string, name: string): CommandFailed =>
  notABackup(archive, `${name} differs from what was written`)

const unknownManifest = (archive: string): CommandFailed =>
  notABackup(archive, `its ${manifestName} is not one that this version knows`)

const notABackup = (archive: string, why: string): CommandFailed =>
  new CommandFailed(`${archive} is not a backup of Bursar, or it is damaged: ${why}`)
