import assert from 'node:assert/strict'
import { isImportState, isWaitCode } from '@bursar/contract'
import type { CountedImports, ImportCounts, ListedImport } from '../imports.ts'
import { isTrue, type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'

/** A row of the registry, with `is_lost`. */
export function readImport(row: NamedRow): ListedImport {
  const state = isTrue(row.is_lost) ? 'lost' : known(isImportState, text(row, 'state'))
  const waitsFor = optionalText(row, 'waits_for')
  const clientId = optionalText(row, 'client_id')
  return {
    id: text(row, 'id'),
    kind: text(row, 'kind'),
    importer:
      clientId === undefined
        ? {
            user: text(row, 'os_user'),
            sudoUser: optionalText(row, 'sudo_user'),
            file: text(row, 'file'),
            files: Number(whole(row, 'files')),
          }
        : { clientId },
    boundTo: optionalText(row, 'bound_to'),
    isDryRun: isTrue(row.dry_run),
    state,
    waitsFor:
      waitsFor === undefined || state !== 'waiting' ? undefined : known(isWaitCode, waitsFor),
    recordsRead: Number(whole(row, 'records_read')),
    records: optionalNumber(row, 'records'),
    counts: readCounts(row),
    reason: optionalText(row, 'reason'),
    startedAt: whole(row, 'started_at'),
    updatedAt: whole(row, 'updated_at'),
    endedAt: optionalWhole(row, 'ended_at'),
    cancelRequestedAt: optionalWhole(row, 'cancel_requested_at'),
  }
}

/** A row of `count`. */
export function readCountedImports(row: NamedRow): CountedImports {
  const waitsFor = optionalText(row, 'waits_for')
  return {
    state: known(isImportState, text(row, 'state')),
    waitsFor: waitsFor === undefined ? undefined : known(isWaitCode, waitsFor),
    imports: Number(whole(row, 'imports')),
  }
}

function readCounts(row: NamedRow): ImportCounts | undefined {
  if (row.added === null) return undefined
  const count = (column: string) => Number(whole(row, column))
  return {
    added: count('added'),
    changed: count('changed'),
    unchanged: count('unchanged'),
    rejected: count('rejected'),
    withdrawn: count('withdrawn'),
  }
}

function optionalNumber(row: NamedRow, column: string): number | undefined {
  const value = optionalWhole(row, column)
  return value === undefined ? undefined : Number(value)
}

function known<T extends string>(isKnown: (name: string) => name is T, name: string): T {
  assert(isKnown(name), 'This version does not know the state of a stored import.')
  return name
}
