import { printInstant } from '@bursar/base'
import { type AuditActor, contractLimits, type OperatorWork, type Resource } from '@bursar/contract'
import { readPlaceOf, readPosition } from '../position.ts'
import type { RecordRead, RecordReads } from '../record-reads.ts'
import type { Store } from '../records.ts'
import { idOf, nameOf, requireFound } from './history-work.ts'

type ReadsDeps = {
  readonly store: Pick<Store, 'operator'>
  readonly reads: Pick<RecordReads, 'list'>
}

/** The work that lists who saw a record in full. */
export const readsWork =
  (resource: Resource, { store, reads }: ReadsDeps): OperatorWork =>
  async (input) => {
    const name = nameOf(input)
    const { customerId } = requireFound(resource, input, await store.operator.find(resource, name))
    const readsMax = Number(input.parameters.get('limit') ?? contractLimits.pageSizeDefault)
    const before = input.after && readPlaceOf(input.after)
    const part = { customerId, kind: resource.kind, id: idOf(input), before }
    // One more than is answered tells that there are more.
    const found = await reads.list({ ...part, readsMax: readsMax + 1 })
    const shown = found.slice(0, readsMax)
    input.trace.rows = shown.length
    const last = found.length > shown.length ? shown.at(-1) : undefined
    return { body: { reads: shown.map(describeRead) }, next: last && readPosition(last) }
  }

const describeRead = ({ at, action, shown, rows, actor, reason }: RecordRead) => ({
  at: printInstant(at),
  action: action === 'export' ? 'export' : 'view',
  shown,
  ...(rows !== undefined && { rows }),
  ...describeActor(actor),
  ...(reason !== undefined && { reason }),
})

function describeActor(actor: AuditActor) {
  if (actor.type === 'client') return { client_id: actor.id }
  if (actor.type === 'person') return { issuer: actor.issuer, subject: actor.subject }
  return actor.type === 'os_user' ? { user: actor.name } : {}
}
