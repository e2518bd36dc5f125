import { createHash } from 'node:crypto'
import { chmodSync, createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, version } from '@bursar/base'
import type { ReadEntry } from 'tar'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { CommandFailed } from '../output.ts'

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
  const { list } = await import('tar')
  const onReadEntry = (entry: ReadEntry) => {
    const hash = createHash('sha256')
    entry.on('data', (chunk) => hash.update(chunk))
    entry.on('end', () => read.set(entry.path, { bytes: entry.size, sha256: hash.digest('hex') }))
  }
  await list({ file: archive, strict: true, onReadEntry })
  for (const file of files) requireSame(archive, file, read.get(file.name))
}

/** Unpacks the named files of an archive into a folder, and compares their hashes. */
export async function unpackArchive(
  archive: string,
  folder: string,
  names: readonly string[],
): Promise<Manifest> {
  const wanted = [manifestName, ...names]
  const { extract } = await import('tar')
  const filter = (path: string, entry: unknown) =>
    wanted.includes(path) && (entry as ReadEntry).type === 'File'
  await extract({ file: archive, cwd: folder, strict: true, preserveOwner: false, filter }).catch(
    (error: unknown) => {
      throw isOfArchive(error) ? notABackup(archive, (error as Error).message) : error
    },
  )
  const manifest = readManifest(archive, folder)
  const found = await digestsOf(names.map((name) => ({ name, path: join(folder, name) }))).catch(
    () => [],
  )
  for (const name of names) {
    const file = manifest.files.find((one) => one.name === name)
    if (file === undefined) throw notABackup(archive, `it has no ${name}`)
    requireSame(
      archive,
      file,
      found.find((one) => one.name === name),
    )
    chmodSync(join(folder, name), 0o600)
  }
  return manifest
}

/** Faults of the archive, not of the disk that it is on. */
const isOfArchive = (error: unknown): boolean =>
  /^(TAR_|Z_)/.test(String((error as NodeJS.ErrnoException).code))

function readManifest(archive: string, folder: string): Manifest {
  let text: string
  try {
    text = readFileSync(join(folder, manifestName), 'utf8')
  } catch {
    throw notABackup(archive, `it has no ${manifestName}`)
  }
  const manifest = parseJson(text)
  if (!Check(manifestSchema, manifest)) {
    throw notABackup(archive, `its ${manifestName} is not one that this version knows`)
  }
  return manifest
}

type NamedFile = { readonly name: string; readonly path: string }

async function digestsOf(files: readonly NamedFile[]) {
  return Promise.all(
    files.map(async ({ name, path }) => {
      const hash = createHash('sha256')
      for await (const chunk of createReadStream(path)) hash.update(chunk)
      return { name, bytes: statSync(path).size, sha256: hash.digest('hex') }
    }),
  )
}

function requireSame(
  archive: string,
  file: Manifest['files'][number],
  found: Digest | undefined,
): void {
  if (found?.bytes === file.bytes && found.sha256 === file.sha256) return
  throw notABackup(archive, `${file.name} differs from what was written`)
}

const notABackup = (archive: string, why: string): CommandFailed =>
  new CommandFailed(`${archive} is not a backup of Bursar, or it is damaged: ${why}`)
