import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { IngestAnswer, IngestInput, IngestWork } from '../contract/ingest-operation.ts'
import { Problem } from '../contract/problem.ts'
import type { Resource } from '../contract/resource.ts'
import { type ImportOptions, type ImportReport, importEntries } from '../intake/import-file.ts'
import { readContent } from '../intake/reading/content.ts'
import { readNdjson } from '../intake/reading/lines.ts'
import { endedBySilence } from '../intake/reading/silence.ts'
import { limits } from '../platform/limits.ts'
import { AlreadyAnswered, type KeptAnswer } from '../store/records/history.ts'
import { refused } from './problems.ts'
import type { RecordDeps } from './records.ts'
import type { StreamGate } from './stream-gate.ts'

/**
 * The work that stores a stream of records. It reads all of the stream into a staging table, and
 * checks it there, before the store is locked.
 */
export const streamWork =
  (resource: Resource, deps: RecordDeps, gate: StreamGate): IngestWork =>
  async (input) => {
    const key = idempotencyKey(input)
    return await gate(() => {
      const stream = openStream(input)
      return key === undefined
        ? storeStream(resource, deps, input, stream)
        : storeOnce(resource, deps, input, stream, key)
    })
  }

function idempotencyKey({ headers }: IngestInput): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  const isValid =
    typeof key === 'string' &&
    key.length <= limits.idempotencyKeyLengthMax &&
    /^[\x21-\x7e]+$/.test(key)
  if (isValid) return key
  const form = `1 to ${limits.idempotencyKeyLengthMax} printable ASCII characters without blanks`
  throw new Problem(400, `Idempotency-Key must be ${form}`)
}

type Stream = {
  readonly chunks: AsyncIterable<Uint8Array>
  /** The digest of the bytes as they were sent; for after the last chunk. */
  readonly sha256: () => string
  /** Reads the bytes for their digest alone, whatever they are. */
  readonly digest: () => Promise<string>
}

function openStream({ content, headers }: IngestInput): Stream {
  const source = content ?? Readable.from([])
  const hash = createHash('sha256')
  let bytes = 0
  source.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length
    hash.update(chunk)
  })
  source.pause()
  const isGzip = headers['content-encoding']?.trim().toLowerCase() === 'gzip'
  const silence = { source, secondsMax: limits.streamSilenceSecondsMax }
  const read = endedBySilence(readContent(source, { isGzip, bytesRead: () => bytes }), silence)
  let sha256 = ''
  const whole = async function* () {
    yield* read
    // Padding may follow the end of what is compressed.
    for await (const _rest of endedBySilence(source, silence));
    sha256 = hash.digest('hex')
  }
  const digest = async () => {
    for await (const _bytes of endedBySilence(source, silence));
    return hash.digest('hex')
  }
  return { chunks: whole(), sha256: () => sha256, digest }
}

const importStream = (
  resource: Resource,
  { store, rules }: RecordDeps,
  { caller, parameters }: IngestInput,
  { chunks }: Stream,
  answering?: ImportOptions['answering'],
): Promise<ImportReport> =>
  importEntries(store, resource, readNdjson(chunks), {
    ...{ dryRun: false, isInServer: true },
    allowOlder: parameters.get('allow_older') === true,
    expected: { mayBeEmpty: true },
    customerId: caller.boundTo ?? undefined,
    rules,
    origin: { command: 'POST', clientId: caller.clientId },
    answering,
  })

type Stored = {
  readonly records: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly sha256: string
}

const storedOf = (report: ImportReport, sha256: string): Stored => {
  const { records, added, changed, unchanged } = report
  return { records, added, changed, unchanged, sha256 }
}

async function storeStream(
  resource: Resource,
  deps: RecordDeps,
  input: IngestInput,
  stream: Stream,
  answering?: ImportOptions['answering'],
): Promise<IngestAnswer> {
  const report = await importStream(resource, deps, input, stream, answering)
  input.trace.rows = report.records
  if (report.faultCount > 0) throw refused(report.faults, report.faultCount)
  return { body: storedOf(report, stream.sha256()) }
}

/** Stores a stream unless its key has an answer. The same request gets that answer again. */
async function storeOnce(
  resource: Resource,
  deps: RecordDeps,
  input: IngestInput,
  stream: Stream,
  key: string,
): Promise<IngestAnswer> {
  const { answers } = deps.store.operator
  const { clientId } = input.caller
  const known = await answers.find(clientId, key)
  if (known !== undefined) return again(known, fingerprintOf(input, await stream.digest()))
  const newAnswer = (report: ImportReport) => {
    const sha256 = stream.sha256()
    const answer = JSON.stringify(storedOf(report, sha256))
    return { clientId, key, fingerprint: fingerprintOf(input, sha256), answer }
  }
  try {
    return await storeStream(resource, deps, input, stream, newAnswer)
  } catch (error) {
    const other = error instanceof AlreadyAnswered ? await answers.find(clientId, key) : undefined
    if (other === undefined) throw error
    return again(other, fingerprintOf(input, stream.sha256()))
  }
}

/** A key says that a request is the same. So another kind or query is another request too. */
const fingerprintOf = ({ target }: IngestInput, sha256: string): string =>
  createHash('sha256')
    .update(JSON.stringify([target, sha256]))
    .digest('hex')

function again({ fingerprint, answer }: KeptAnswer, sent: string): IngestAnswer {
  if (fingerprint === sent) return { body: answer }
  const detail = 'this Idempotency-Key was sent with another request before; take a new one'
  throw new Problem(422, detail)
}
