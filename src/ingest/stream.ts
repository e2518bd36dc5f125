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
    return await gate(() =>
      key === undefined
        ? storeStream(resource, deps, input)
        : storeOnce(resource, deps, input, key),
    )
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

/** The status and the body of an answer, as an idempotency key keeps it. */
type Answered =
  | { readonly status: 200; readonly body: object }
  | { readonly status: 400; readonly faults: ImportReport['faults']; readonly faultCount: number }

function answeredOf(report: ImportReport, sha256: string): Answered {
  const { records, added, changed, unchanged, faults, faultCount } = report
  if (faultCount === 0) return { status: 200, body: { records, added, changed, unchanged, sha256 } }
  return { status: 400, faults: faults.slice(0, limits.faultsAnsweredMax), faultCount }
}

function render(answered: Answered): IngestAnswer {
  if (answered.status === 200) return { body: answered.body }
  throw refused(400, answered.faults, answered.faultCount)
}

async function storeStream(resource: Resource, deps: RecordDeps, input: IngestInput) {
  const stream = openStream(input)
  const report = await importStream(resource, deps, input, stream)
  input.trace.rows = report.records
  return render(answeredOf(report, stream.sha256()))
}

/** Stores a stream unless its key has an answer. The same bytes get that answer again. */
async function storeOnce(resource: Resource, deps: RecordDeps, input: IngestInput, key: string) {
  const { answers } = deps.store.operator
  const { clientId } = input.caller
  const known = await answers.find(clientId, key)
  const stream = openStream(input)
  if (known !== undefined) return again(known, await stream.digest())
  const newAnswer = (report: ImportReport) => {
    const sha256 = stream.sha256()
    return { clientId, key, sha256, answer: JSON.stringify(answeredOf(report, sha256)) }
  }
  try {
    const report = await importStream(resource, deps, input, stream, newAnswer)
    input.trace.rows = report.records
    // A stream that broke off has no digest, and may be sent again.
    if (report.faultCount > 0 && stream.sha256() !== '') await answers.keep(newAnswer(report))
    return render(answeredOf(report, stream.sha256()))
  } catch (error) {
    const other = error instanceof AlreadyAnswered ? await answers.find(clientId, key) : undefined
    if (other === undefined) throw error
    return again(other, stream.sha256())
  }
}

function again({ sha256, answer }: KeptAnswer, sent: string): IngestAnswer {
  if (sha256 === sent) return render(JSON.parse(answer) as Answered)
  throw new Problem(422, 'this Idempotency-Key was sent with other bytes before; take a new one')
}
