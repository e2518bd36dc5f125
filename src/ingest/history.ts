import { noteFullView, seesInFull } from '../contract/access.ts'
import type { IngestInput, IngestWork } from '../contract/ingest-operation.ts'
import { Problem } from '../contract/problem.ts'
import type { Resource } from '../contract/resource.ts'
import type { Clock } from '../platform/clock.ts'
import { limits } from '../platform/limits.ts'
import { positionMicros, positionOf } from '../store/position.ts'
import type { History, Version, VersionOrigin } from '../store/records/history.ts'
import type { Store } from '../store/records.ts'
import { printInstant } from '../values/instant.ts'
import { changedMembers } from './changed-members.ts'
import { idOf, nameOf, requireFound } from './record-name.ts'

type HistoryDeps = { readonly store: Pick<Store, 'operator'>; readonly clock: Clock }

/** Throws a 403 unless the caller may read the past. */
export function requireHistoryScope({ caller }: IngestInput): void {
  if (caller.scopes.has('ingest:read_history')) return
  throw new Problem(403, 'as_of requires the scope ingest:read_history too')
}

/** The work that lists the versions of a record. */
export const historyWork =
  (resource: Resource, { store }: HistoryDeps): IngestWork =>
  async (input) => {
    const { parameters } = input
    const versionsMax = Number(parameters.get('limit') ?? limits.pageSizeDefault)
    const part = { after: input.after && positionMicros(input.after), versionsMax }
    const found = await store.operator.history(resource, nameOf(input), part)
    const history = requireFound(resource, input, found)
    input.trace.rows = history.versions.length
    const isMasked = resource.mask !== undefined && !seesInFull(input)
    if (resource.mask !== undefined && !isMasked) {
      noteFullView(input, { kind: resource.kind, id: idOf(input) })
    }
    const last = history.more ? history.versions.at(-1) : undefined
    return {
      body: describeHistory(history, isMasked ? resource.mask : undefined),
      next: last && positionOf(last.storedAt, idOf(input)),
    }
  }

/** A history as HTTP and the command line show it. Changes are those of the full records. */
export function describeHistory(
  { versions, previous }: Pick<History, 'versions' | 'previous'>,
  mask?: Resource['mask'],
) {
  return {
    versions: versions.map((version, at) =>
      describeVersion(version, at === 0 ? previous : versions[at - 1], mask),
    ),
  }
}

function describeVersion(version: Version, previous: Version | undefined, mask: Resource['mask']) {
  const record = JSON.parse(version.line)
  const before = previous === undefined ? undefined : JSON.parse(previous.line)
  return {
    stored_at: printInstant(version.storedAt),
    ...(version.replacedAt !== undefined && { replaced_at: printInstant(version.replacedAt) }),
    ...(version.isWithdrawn && { withdrawn: true }),
    origin: describeOrigin(version.origin),
    changed: before === undefined ? [] : changedMembers(before, record),
    record: mask === undefined ? record : mask(record),
  }
}

function describeOrigin(origin: VersionOrigin | undefined) {
  if (origin === undefined) return {}
  const line = origin.line === undefined ? {} : { line: origin.line }
  return 'clientId' in origin
    ? { command: origin.command, client_id: origin.clientId, ...line }
    : { command: 'import', file: origin.file, user: origin.user, ...line }
}
