import { printInstant } from '@bursar/base'
import type { ListedImport } from '@bursar/records'

/** An import as HTTP and the command line show it. What is unknown is left out. */
export function describeImport(listed: ListedImport) {
  const { id, kind, importer, role, boundTo, state, counts, reason } = listed
  const { startedAt, endedAt, cancelRequestedAt } = listed
  return {
    id,
    kind,
    ...whoOf(importer),
    ...(role !== undefined && !('clientId' in importer) && { role }),
    ...(boundTo !== undefined && { customer_id: boundTo }),
    state,
    ...counts,
    ...(reason !== undefined && { reason }),
    started_at: printInstant(startedAt),
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
