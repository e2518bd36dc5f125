import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import type { TSchema } from 'typebox'
import { readCsv } from './csv.ts'
import { readJsonArray } from './json-array.ts'
import { type Entry, readNdjson, UnreadableFile } from './lines.ts'

/** An open file of records. `bytesRead` counts the bytes before decompression. */
export type RecordFile = {
  readonly entries: AsyncIterable<Entry>
  readonly bytesTotal: number | undefined
  readonly bytesRead: () => number
}

/**
 * Opens a file by its extension: `.ndjson` or `.jsonl`, `.json` (one array) or `.csv`, each also
 * with `.gz`. `-` is standard input as NDJSON. Throws an UnreadableFile if it cannot.
 */
export async function openRecordFile(path: string, schema: TSchema): Promise<RecordFile> {
  const fromStdin = path === '-'
  const read = fromStdin ? readNdjson : readerOf(path)
  const bytesTotal = fromStdin ? undefined : await sizeOf(path)
  const source = fromStdin ? process.stdin : createReadStream(path, { highWaterMark: 1 << 20 })
  let bytesRead = 0
  source.on('data', (chunk) => {
    bytesRead += chunk.length
  })
  source.pause()
  const chunks = path.endsWith('.gz') ? gunzip(source) : source
  return {
    entries: read(chunks as AsyncIterable<Uint8Array>, schema),
    bytesTotal,
    bytesRead: () => bytesRead,
  }
}

type Reader = (chunks: AsyncIterable<Uint8Array>, schema: TSchema) => AsyncIterable<Entry>

const readers: ReadonlyMap<string, Reader> = new Map([
  ['ndjson', readNdjson],
  ['jsonl', readNdjson],
  ['json', readJsonArray],
  ['csv', readCsv],
])

function readerOf(path: string): Reader {
  const reader = readers.get(/\.(\w+)(?:\.gz)?$/.exec(path)?.[1] ?? '')
  if (reader !== undefined) return reader
  throw new UnreadableFile(
    `${path}: the ending must be .ndjson, .jsonl, .json or .csv, or one of these and .gz`,
  )
}

async function sizeOf(path: string): Promise<number> {
  try {
    const file = await stat(path)
    if (file.isFile()) return file.size
  } catch {
    throw new UnreadableFile(`${path}: there is no such file, or it may not be read`)
  }
  throw new UnreadableFile(`${path}: is not a file`)
}

async function* gunzip(source: NodeJS.ReadableStream): AsyncIterable<Uint8Array> {
  const unzipped = createGunzip()
  source.on('error', (error) => unzipped.destroy(error))
  try {
    yield* source.pipe(unzipped)
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('Z_')) {
      throw new UnreadableFile('is not whole as gzip')
    }
    throw error
  }
}
