import { limitsOf } from '@bursar/base'
import {
  type Deed,
  type OperatorInput,
  type OperatorWork,
  Problem,
  problem,
  type Resource,
  type WorkAnswer,
} from '@bursar/contract'
import {
  DeedFailed,
  ImportCancelled,
  type Imports,
  NothingChanged,
  type RunningImport,
  type Spools,
  StoreDamaged,
  StoreUnavailable,
} from '@bursar/records'
import type { ImportReport } from '../files/import-file.ts'
import { countsOf, failureOfError, failureOfReport } from '../note-import.ts'
import { type StreamJob, storedOf } from '../writer/stream-job.ts'
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
  readonly imports: Pick<Imports, 'begin' | 'beginOnce'>
}

/**
 * The work that stores a stream of records. It receives all of the stream into a file, and writes
 * the row of the import. Then a process apart reads, checks and merges the records. It is killed
 * when the client leaves or loses its right, or somebody cancels the import. The row tells what the
 * process has done by then.
 */
export const streamWork =
  (resource: Resource, deps: StreamDeps): OperatorWork =>
  async (input) => {
    const key = idempotencyKey(input)
    deps.foreign.requireFew(input.caller)
    allowedBy(input)
    const { request, right, caller } = input
    const deed = { action: 'import', kind: resource.kind } as const
    const left = AbortSignal.any([request.left(), right.signal()])
    const receiveAndStore = async () => {
      const file = deps.spools.openReceived()
      try {
        const body = await receiveBody(request.content, file, left)
        return await beginAndStore(resource, deps, { input, deed, left, key, body })
      } finally {
        await file.close()
      }
    }
    try {
      return await deps.gate.hold(caller.clientId, receiveAndStore)
    } catch (error) {
      if (error instanceof DeedFailed) throw error
      throw new DeedFailed({ ...deed, outcome: outcomeOf(error) }, error)
    }
  }

type ReceivedStream = {
  readonly input: OperatorInput
  readonly deed: Deed
  readonly left: AbortSignal
  readonly key: string | undefined
  readonly body: ReceivedBody
}

async function beginAndStore(
  resource: Resource,
  deps: StreamDeps,
  { input, left, key, body, ...stream }: ReceivedStream,
): Promise<WorkAnswer> {
  const { caller, request } = input
  const boundTo = caller.boundTo ?? undefined
  const entry = { kind: resource.kind, importer: { clientId: caller.clientId }, boundTo }
  // Another kind or query is another request too.
  const sent = `${request.method} ${request.path}?${request.rawQuery} ${body.sha256}`
  const begun =
    key === undefined
      ? await deps.imports.begin(entry, [body.sha256], left)
      : await deps.imports.beginOnce(entry, [body.sha256], { key, request: sent }, left)
  if ('is' in begun) {
    if (begun.is === 'running')
      throw problem('conflict', 'a request with this Idempotency-Key still runs')
    if (begun.is === 'another') throw problem('keyReused', KEY_REUSED)
    return { body: begun.answer, deed: { ...stream.deed, ids: [begun.id], outcome: 'done' } }
  }
  const deed = { ...stream.deed, ids: [begun.row.id] }
  const signal = AbortSignal.any([left, begun.signal])
  const running = { input, running: begun, signal, keepsAnswer: key !== undefined, body }
  const run = () => storeStream(resource, deps, running)
  let report: ImportReport
  try {
    report = await deps.gate.store(caller.clientId, signal, run)
  } catch (error) {
    const row = await begun.fail(failureOfError(error)).catch((unwritten: unknown) => {
      throw new DeedFailed({ ...deed, outcome: 'unknown' }, unwritten)
    })
    // The process was ended after its commit.
    if (row.counts !== undefined) return answerOf(row.counts, body, deed)
    const cause = row.state === 'cancelled' ? cancelled(row.id) : nothingChanged(error)
    throw new DeedFailed({ ...deed, outcome: outcomeOf(error) }, cause)
  }
  if (report.faultCount > 0) {
    // The process writes the row as soon as it can, and nothing is stored in any case.
    await begun.fail(failureOfReport(report)).catch(() => {})
    const cause = refused(deps.foreign.shown(input, report.faults), report)
    throw new DeedFailed({ ...deed, outcome: 'refused' }, cause)
  }
  begun.end()
  return answerOf(report, body, deed)
}

function answerOf(
  stored: Parameters<typeof storedOf>[0],
  { sha256 }: ReceivedBody,
  deed: Deed,
): WorkAnswer {
  return {
    body: storedOf(stored, sha256),
    deed: { ...deed, outcome: 'done', counts: countsOf(stored) },
  }
}

/** The word of the audit log for an import that has stored nothing. */
function outcomeOf(error: unknown): NonNullable<Deed['outcome']> {
  if (error instanceof ImportCancelled) return 'cancelled'
  const isRefusal = error instanceof Problem && error.status < 500 && error.status !== 408
  return isRefusal ? 'refused' : 'failed'
}

/** The row of the import has told that nothing of it is stored. */
const nothingChanged = (error: unknown): unknown =>
  error instanceof StoreUnavailable && !(error instanceof StoreDamaged)
    ? new NothingChanged(error.message, { cause: error })
    : error

const cancelled = (id: string): Problem =>
  problem('conflict', `the import ${id} was cancelled; nothing was stored`)

const KEY_REUSED = 'this Idempotency-Key was sent with another request before; take a new one'

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

type BegunStream = {
  readonly input: OperatorInput
  readonly running: RunningImport
  readonly signal: AbortSignal
  readonly keepsAnswer: boolean
  readonly body: ReceivedBody
}

async function storeStream(
  resource: Resource,
  deps: StreamDeps,
  { input, running, signal, keepsAnswer, body }: BegunStream,
): Promise<ImportReport> {
  input.right.require()
  const job: Omit<StreamJob, 'clockAhead'> = {
    kind: resource.kind,
    ...body,
    isGzip: input.headers['content-encoding']?.trim().toLowerCase() === 'gzip',
    clientId: input.caller.clientId,
    customerId: input.caller.boundTo ?? undefined,
    ...allowedBy(input),
    row: running.row,
    keepsAnswer,
  }
  const report = await deps.writers.run(job, signal)
  input.trace.rows = report.records
  return report
}
