import { type Clock, limitsOf, printInstant, turn } from '@bursar/base'
import {
  contractLimits,
  fullView,
  noneFound,
  type OperatorInput,
  type OperatorWork,
  problem,
  type RecordInput,
  type Resource,
  seesInFull,
} from '@bursar/contract'
import { type Position, positionId, positionMicros, positionOf } from '../position.ts'
import type {
  History,
  RecordName,
  Version,
  VersionOrigin,
  VersionPlace,
} from '../records/history.ts'
import type { Store } from '../records.ts'
import { changedMembers } from './changed-members.ts'

const limits = limitsOf({
  /** Versions of a history page, and of one step of reading them: some milliseconds. */
  historyPageBytesMax: 1024 * 1024,
  historyStepBytes: 256 * 1024,
})

type HistoryDeps = { readonly store: Pick<Store, 'operator'>; readonly clock: Clock }

/** Throws a 403 unless the caller may read the past. */
export function requireHistoryScope({ caller }: OperatorInput): void {
  if (caller.scopes.has('ingest:read_history')) return
  throw problem('forbidden', 'as_of requires the scope ingest:read_history too')
}

/** The work that lists the versions of a record. */
export const historyWork =
  (resource: Resource, { store }: HistoryDeps): OperatorWork =>
  async (input) => {
    const versionsMax = Number(input.parameters.get('limit') ?? contractLimits.pageSizeDefault)
    const name = historyNameOf(resource, input)
    const isMasked =
      resource.mask !== undefined &&
      (input.parameters.get('view') === 'customer' || !seesInFull(input))
    const view: HistoryView = {
      mask: isMasked ? resource.mask : undefined,
      hidesTaker: input.caller.boundTo !== null,
    }
    const versions: object[] = []
    let keptSince = 0n
    let customer = ''
    let after: VersionPlace | undefined = input.after && placeOf(input.after)
    let bytes = 0
    let last: Version | undefined
    let hasMore = true
    while (hasMore && versions.length < versionsMax && bytes < limits.historyPageBytesMax) {
      const part = { after, versionsMax: stepOf(versions.length, bytes, versionsMax) }
      const found = await store.operator.history(resource, name, part)
      const history = requireFound(resource, input, found)
      keptSince = history.keptSince
      customer = history.customerId
      versions.push(...describeHistory(history, view).versions)
      for (const { line } of history.versions) bytes += line.length
      last = history.versions.at(-1)
      after = last
      hasMore = history.more
      // A step takes some milliseconds, after which other requests have their turn.
      if (hasMore) await turn()
    }
    input.trace.rows = versions.length
    const isFull = resource.mask !== undefined && !isMasked
    const accessed = { kind: resource.kind, ids: [idOf(input)], customer }
    const deed = isFull ? fullView(input, accessed) : undefined
    const end = hasMore ? last : undefined
    const body = { kept_since: printInstant(keptSince), versions }
    return { body, next: end && positionOf(end.storedAt, end.version), deed }
  }

/** A version has as many digits as the id of a position. */
const placeOf = (position: Position): VersionPlace => ({
  storedAt: positionMicros(position),
  version: positionId(position).replaceAll('-', ''),
})

/** Versions to read next: few while their size is unknown, and as many as a step has bytes for. */
function stepOf(versions: number, bytes: number, versionsMax: number): number {
  const each = Math.max(1, bytes / Math.max(1, versions))
  const fitting = versions === 0 ? FIRST_STEP : Math.floor(limits.historyStepBytes / each)
  return Math.max(1, Math.min(fitting, versionsMax - versions))
}

const FIRST_STEP = 4

/** The id in the path. */
export const idOf = ({ parameters }: OperatorInput): string => String(parameters.get('id'))

/**
 * The record that a caller may see by this id. A read for a bound client names its customer, so the
 * work for a foreign record is that for an unknown one.
 */
export const nameOf = (input: OperatorInput): RecordName => ({
  id: idOf(input),
  customerId: input.caller.boundTo ?? undefined,
})

/** What was read by the name, or a 404. */
export function requireFound<R>(resource: Resource, input: OperatorInput, found: R | undefined): R {
  if (found !== undefined) return found
  throw noneFound(resource.noun, idOf(input))
}

/** The record of a customer that the caller names, which may have lost its id to another. */
function historyNameOf(resource: Resource, input: OperatorInput): RecordName {
  const { id, customerId } = nameOf(input)
  const named = input.parameters.get('customer_id')
  if (named === undefined) return { id, customerId }
  if (customerId !== undefined && customerId !== named) throw noneFound(resource.noun, idOf(input))
  return { id, customerId: String(named) }
}

type HistoryView = {
  readonly mask?: Resource['mask'] | undefined
  /** Whether a take-over shows nothing of who has taken the value, which is another customer's. */
  readonly hidesTaker?: boolean
}

/** A history as HTTP and the command line show it. Changes are those of the full records. */
export function describeHistory(
  { versions, previous }: Pick<History, 'versions' | 'previous'>,
  view: HistoryView = {},
) {
  let before = previous && JSON.parse(previous.line)
  return {
    versions: versions.map((version) => {
      const record = JSON.parse(version.line)
      const described = describeVersion(version, before, record, view)
      before = record
      return described
    }),
  }
}

function describeVersion(
  version: Version,
  before: RecordInput | undefined,
  record: RecordInput,
  { mask, hidesTaker = false }: HistoryView,
) {
  return {
    stored_at: printInstant(version.storedAt),
    ...(version.replacedAt !== undefined && { replaced_at: printInstant(version.replacedAt) }),
    ...(version.isWithdrawn && { withdrawn: true }),
    origin: describeOrigin(version.origin, hidesTaker),
    changed: before === undefined ? [] : changedMembers(before, record),
    record: mask === undefined ? record : mask(record),
  }
}

/** Who stored a version, as the API answers it. */
export function describeOrigin(origin: VersionOrigin | undefined, hidesTaker: boolean) {
  if (origin === undefined) return {}
  if (origin.tookOver && hidesTaker) return { command: TAKE_OVER }
  const line = origin.line === undefined ? {} : { line: origin.line }
  return 'clientId' in origin
    ? { command: origin.tookOver ? TAKE_OVER : origin.command, client_id: origin.clientId, ...line }
    : {
        command: origin.tookOver ? TAKE_OVER : 'import',
        file: origin.file,
        user: origin.user,
        ...line,
      }
}

const TAKE_OVER = 'take-over'
