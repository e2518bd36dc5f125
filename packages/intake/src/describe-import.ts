import { printInstant } from '@bursar/base'
import type { ListedImport } from '@bursar/records'

/** An import of the registry as HTTP and the command line show it. What is unknown is left out. */
export function describeImport(listed: ListedImport) {
  const { id, kind, importer, boundTo, isDryRun, state, waitsFor, recordsRead, records } = listed
  const { counts, reason, startedAt, updatedAt, endedAt, cancelRequestedAt } = listed
  return {
    id,
    kind,
    ...whoOf(importer),
    ...(boundTo !== undefined && { customer_id: boundTo }),
    ...(isDryRun && { dry_run: true }),
    state,
    ...(waitsFor !== undefined && { waits_for: waitsFor }),
    records_read: recordsRead,
    ...(records !== undefined && { records }),
    ...counts,
    ...(reason !== undefined && { reason }),
    started_at: printInstant(startedAt),
    updated_at: printInstant(updatedAt),
    ...(endedAt !== undefined && { ended_at: printInstant(endedAt) }),
    ...(cancelRequestedAt !== undefined && {
      cancel_requested_at: printInstant(cancelRequestedAt),
    }),
  }
}

function whoOf(importer: ListedImport['importer']) {
  if ('clientId' in importer) return { command: 'POST', client_id: importer.clientId }
  const { user, sudoUser, file, files } = importer
  const sudo = sudoUser === undefined ? {} : { sudo_user: sudoUser }
  return { command: 'import', user, ...sudo, file, files }
}
