import { createHash } from 'node:crypto'
import { limitsOf } from '@bursar/base'
import {
  type Deed,
  type OperatorInput,
  type OperatorWork,
  type Problem,
  problem,
  type Resource,
  type WorkAnswer,
} from '@bursar/contract'
import {
  AlreadyAnswered,
  DeedFailed,
  ImportCancelled,
  type ImportOutcome,
  type ImportRegistry,
  NothingChanged,
  type RunningImport,
  type Spools,
  StoreUnavailable,
} from '@bursar/records'
import { notesOf, outcomeOfError, outcomeOfReport } from '../note-import.ts'
import { type StreamJob, type StreamProgress, storedOf } from '../writer/stream-job.ts'
import type { Writers } from '../writer/writers.ts'
import { type ReceivedBody, receiveBody } from './receive-body.ts'
import { allowedBy, type RecordDeps, refused } from './record-works.ts'
import type { StreamGate } from './stream-gate.ts'

const limits = limitsOf({
  /** An Idempotency-Key: a UUID or a digest in any spelling. */
  idempotencyKeyLengthMax: 200,
})

/** What the streams of a process share. */
export type StreamDeps = RecordDeps & {
  readonly gate: StreamGate
  readonly spools: Pick<Spools, 'openReceived'>
  readonly writers: Writers
  readonly imports: Pick<ImportRegistry, 'begin'>
}

/**
 * The work that stores a stream of records. It receives all of the stream into a file. Then a
 * process apart reads, checks and merges it. The work ends when the client leaves, or when somebody
 * cancels it.
 */
export const streamWork =
  (resource: Resource, deps: StreamDeps): OperatorWork =>
  async (input) => {
    const { clientId, boundTo } = input.caller
    const key = idempotencyKey(input)
    deps.foreign.requireFew(input.caller)
    allowedBy(input)
    const running = deps.imports.begin({
      kind: resource.kind,
      importer: { clientId },
      boundTo: boundTo ?? undefined,
      isDryRun: false,
    })
    let ended: ImportOutcome | undefined
    // The first call counts.
    const end = (outcome: ImportOutcome) => {
      running.end(outcome)
      ended ??= outcome
    }
    const deed = { action: 'import', kind: resource.kind, ids: [running.id] } as const
    const { request, right } = input
    const signal = AbortSignal.any([request.left(), right.signal(), running.signal])
    const stream = { input, running: { ...running, end }, signal, key }
    try {
      const answer = await deps.gate.hold(clientId, () => receiveAndStore(resource, deps, stream))
      return { ...answer, deed: { ...deed, ...(ended && endOf(ended)) } }
    } catch (error) {
      end(outcomeOfError(error))
      const isUnknown = error instanceof StoreUnavailable && !(error instanceof NothingChanged)
      const how = isUnknown ? { outcome: 'unknown' as const } : ended && endOf(ended)
      const cause = error instanceof ImportCancelled ? cancelled(running.id) : error
      throw new DeedFailed({ ...deed, ...how }, cause)
    }
  }

/** What the entry of the audit log says of how an import has ended. */
function endOf(ended: ImportOutcome): Pick<Deed, 'outcome' | 'counts'> {
  if ('counts' in ended) return { outcome: 'done', counts: ended.counts }
  return { outcome: ended.state === 'answered_before' ? 'done' : ended.state }
}

const cancelled = (id: string): Problem =>
  problem('conflict', `the import ${id} was cancelled; nothing was stored`)

type NotedStream = {
  readonly input: OperatorInput
  readonly running: RunningImport
  readonly signal: AbortSignal
  readonly key: string | undefined
}

async function receiveAndStore(
  resource: Resource,
  deps: StreamDeps,
  stream: NotedStream,
): Promise<WorkAnswer> {
  const { input, running, signal } = stream
  const file = deps.spools.openReceived()
  try {
    running.enter('receiving')
    const body = await receiveBody(input.request.content, file, signal)
    const known = await answeredBefore(deps, stream, body)
    if (known !== undefined) return known
    running.wait('slot')
    const store = () => storeStream(resource, deps, stream, body)
    return await deps.gate.store(input.caller.clientId, signal, store)
  } finally {
    await file.close()
  }
}

function idempotencyKey({ headers }: OperatorInput): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  const isValid =
    typeof key === 'string' &&
    key.length <= limits.idempotencyKeyLengthMax &&
    /^[\x21-\x7e]+$/.test(key)
  if (isValid) return key
  const form = `1 to ${limits.idempotencyKeyLengthMax} printable ASCII characters without blanks`
  throw problem('malformed', `Idempotency-Key must be ${form}`)
}

async function storeStream(
  resource: Resource,
  deps: StreamDeps,
  stream: NotedStream,
  body: ReceivedBody,
): Promise<WorkAnswer> {
  const { input, running, signal, key } = stream
  const job: Omit<StreamJob, 'clockAhead'> = {
    kind: resource.kind,
    ...body,
    isGzip: input.headers['content-encoding']?.trim().toLowerCase() === 'gzip',
    clientId: input.caller.clientId,
    customerId: input.caller.boundTo ?? undefined,
    ...allowedBy(input),
    answer: key === undefined ? undefined : { key, fingerprint: fingerprintOf(input, body) },
  }
  const { onStep } = notesOf(running)
  const told = ({ phase, records }: StreamProgress) => {
    running.progress(records)
    if (phase !== 'reading' && phase !== 'committing') onStep(phase)
  }
  running.enter('reading')
  try {
    const report = await deps.writers.run(job, { signal, told, mayCommit: input.right.require })
    running.progress(report.records)
    running.end(outcomeOfReport(report, false))
    input.trace.rows = report.records
    if (report.faultCount > 0) throw refused(deps.foreign.shown(input, report.faults), report)
    return { body: storedOf(report, body.sha256) }
  } catch (error) {
    const isAnswered = error instanceof AlreadyAnswered
    const other = isAnswered ? await answeredBefore(deps, stream, body) : undefined
    if (other === undefined) throw error
    return other
  }
}

/** The answer that the key has. Undefined if it has none; throws if another request has it. */
async function answeredBefore(
  { store }: StreamDeps,
  { input, running, key }: NotedStream,
  body: ReceivedBody,
): Promise<WorkAnswer | undefined> {
  if (key === undefined) return undefined
  const kept = await store.operator.findAnswer(input.caller.clientId, key)
  if (kept === undefined) return undefined
  if (kept.fingerprint === fingerprintOf(input, body)) {
    running.end({ state: 'answered_before' })
    return { body: kept.answer }
  }
  const detail = 'this Idempotency-Key was sent with another request before; take a new one'
  throw problem('keyReused', detail)
}

/** A key says that a request is the same. So another kind or query is another request too. */
const fingerprintOf = ({ request }: OperatorInput, { sha256 }: ReceivedBody): string =>
  createHash('sha256')
    .update(JSON.stringify([`${request.method} ${request.path}?${request.rawQuery}`, sha256]))
    .digest('hex')
