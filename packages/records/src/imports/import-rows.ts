import assert from 'node:assert/strict'
import { isImportState } from '@bursar/contract'
import type { CountedImports, ImportCounts, ListedImport } from '../imports.ts'
import { type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'

/** A row of the table of imports. */
export function readImport(row: NamedRow): ListedImport {
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
    role: optionalText(row, 'role'),
    boundTo: optionalText(row, 'bound_to'),
    state: stateOf(row),
    counts: readCounts(row),
    reason: optionalText(row, 'reason'),
    startedAt: whole(row, 'started_at'),
    endedAt: optionalWhole(row, 'ended_at'),
    cancelRequestedAt: optionalWhole(row, 'cancel_requested_at'),
  }
}

/** A row of `count`. */
export const readCountedImports = (row: NamedRow): CountedImports => ({
  state: stateOf(row),
  imports: Number(whole(row, 'imports')),
})

function readCounts(row: NamedRow): ImportCounts | undefined {
  if (row.records === null) return undefined
  const count = (column: string) => Number(whole(row, column))
  return {
    records: count('records'),
    added: count('added'),
    changed: count('changed'),
    unchanged: count('unchanged'),
    rejected: count('rejected'),
    withdrawn: count('withdrawn'),
  }
}

function stateOf(row: NamedRow): ListedImport['state'] {
  const state = text(row, 'state')
  assert(isImportState(state), 'This version does not know the state of a stored import.')
  return state
}
