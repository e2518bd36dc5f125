import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { counted, printable, systemTime } from '@bursar/base'
import type { TSchema } from 'typebox'
import type { Entry } from '../../entry.ts'
import { type CsvOptions, readCsv } from '../csv/read-csv.ts'
import { readContent } from './content.ts'
import { readJsonArray } from './json-array.ts'
import { readNdjson, UnreadableFile } from './lines.ts'

/** An open file of records. `bytesRead` counts the bytes before decompression. */
export type RecordFile = {
  /** Without its folder; `-` is standard input. */
  readonly name: string
  readonly entries: AsyncIterable<Entry>
  readonly bytesTotal: number | undefined
  readonly bytesRead: () => number
  /** The SHA-256 of the bytes before decompression, in hex. For after the last entry. */
  readonly sha256: () => Promise<string>
  /** How many rows of CSV without a record were skipped so far. */
  readonly blankRows: () => number
  /** The header line of CSV as it came, once it was read. */
  readonly header: () => string | undefined
  /** Ends the reading, even while nothing arrives. */
  readonly stop: () => void
}

type Source = Pick<CsvOptions, 'delimiter' | 'nullText'> & {
  readonly stdin: Readable
  readonly silenceSecondsMax: number
}

/**
 * Opens a file by its extension: `.ndjson` or `.jsonl`, `.json` (one array) or `.csv`, each also
 * with `.gz`. `-` is standard input as NDJSON. Throws an UnreadableFile if it cannot.
 */
export async function openRecordFile(
  path: string,
  schema: TSchema,
  { stdin, silenceSecondsMax, delimiter, nullText }: Source,
): Promise<RecordFile> {
  const fromStdin = path === '-'
  const bytesTotal = fromStdin ? undefined : await sizeOf(path)
  const read = fromStdin ? ndjson : readerOf(path)
  let header: string | undefined
  const onHeader = (line: string) => {
    header = line
  }
  let blankRows = 0
  const onBlankRow = () => {
    blankRows += 1
  }
  const hash = createHash('sha256')
  let bytesRead = 0
  let opened: Readable | undefined
  // When it is read, because an import of many files must not open all of them at once.
  const open = (): Readable => {
    if (opened !== undefined) return opened
    opened = fromStdin ? stdin : createReadStream(path, { highWaterMark: 1 << 20 })
    opened.on('data', (chunk) => {
      bytesRead += chunk.length
      hash.update(chunk)
    })
    return opened.pause()
  }
  const file = { name: basename(path), bytesTotal, bytesRead: () => bytesRead }
  const contentOf = () => {
    const silence = { source: open(), secondsMax: silenceSecondsMax }
    const isGzip = path.endsWith('.gz')
    return endedBySilence(readContent(open(), { isGzip, bytesRead: file.bytesRead }), silence)
  }
  // What follows the last record is still read, for the digest.
  const entries = async function* (): AsyncIterable<Entry> {
    let isWhole = false
    try {
      const options = { delimiter, nullText, onHeader, onBlankRow }
      yield* read({ chunks: contentOf(), schema, options })
      isWhole = true
    } finally {
      if (!isWhole) opened?.destroy()
    }
  }
  return {
    ...file,
    header: () => header,
    blankRows: () => blankRows,
    stop: () => void opened?.destroy(new UnreadableFile('the import was ended')),
    entries: entries(),
    sha256: async () => {
      // Padding may follow the end of what is compressed.
      const silence = { source: open(), secondsMax: silenceSecondsMax }
      for await (const _rest of endedBySilence(open(), silence));
      return hash.digest('hex')
    },
  }
}

type Reader = (source: {
  readonly chunks: AsyncIterable<Uint8Array>
  readonly schema: TSchema
  readonly options: CsvOptions
}) => AsyncIterable<Entry>

const ndjson: Reader = ({ chunks }) => readNdjson(chunks)

const readers: ReadonlyMap<string, Reader> = new Map([
  ['ndjson', ndjson],
  ['jsonl', ndjson],
  ['json', ({ chunks }) => readJsonArray(chunks)],
  ['csv', ({ chunks, schema, options }) => readCsv(chunks, schema, options)],
])

function readerOf(path: string): Reader {
  const reader = readers.get(/\.(\w+)(?:\.gz)?$/.exec(path)?.[1] ?? '')
  if (reader !== undefined) return reader
  throw new UnreadableFile(
    `${printable(path, 1000)}: the ending must be .ndjson, .jsonl, .json or .csv, or one of these and .gz`,
  )
}

async function sizeOf(path: string): Promise<number> {
  const name = printable(path, 1000)
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const isAbsent = error.code === 'ENOENT' || error.code === 'ENOTDIR'
    const reason = isAbsent ? 'there is no such file' : `cannot be read (${error.code})`
    throw new UnreadableFile(`${name}: ${reason}`)
  })
  if (file.isFile()) return file.size
  const remedy = file.isDirectory()
    ? 'is a folder; name one file in it'
    : 'is not a regular file; pipe it to standard input and give - as the file'
  throw new UnreadableFile(`${name}: ${remedy}`)
}

type Silence = { readonly source: Readable; readonly secondsMax: number }

/**
 * Passes on what is read from a source. Ends the source when it sends nothing for too long, since
 * its writer may hang. The time in which the importer works on a chunk does not count.
 */
async function* endedBySilence(
  chunks: AsyncIterable<Uint8Array>,
  { source, secondsMax }: Silence,
): AsyncIterable<Uint8Array> {
  let isAwaited = true
  const onSilence = () => {
    if (!isAwaited) return
    const silence = `sent nothing for ${counted(secondsMax, 'second')}`
    source.destroy(
      new UnreadableFile(
        `${silence}; does its writer hang? BURSAR_IMPORT_SILENCE_SECONDS_MAX allows more`,
      ),
    )
  }
  let cancel = systemTime.after(secondsMax * 1000, onSilence)
  const restart = () => {
    cancel()
    cancel = systemTime.after(secondsMax * 1000, onSilence)
  }
  // Compressed bytes may arrive for a while before they decompress to a chunk.
  const onBytes = restart
  source.on('data', onBytes)
  try {
    for await (const chunk of chunks) {
      isAwaited = false
      yield chunk
      isAwaited = true
      restart()
    }
  } finally {
    cancel()
    source.off('data', onBytes)
  }
}
