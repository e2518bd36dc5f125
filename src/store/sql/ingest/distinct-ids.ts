import type { PutOutcome, PutRequest } from '../../records/put.ts'
import type { PendingRequest } from '../batch-queue.ts'

type Waiting = readonly PendingRequest<PutRequest, PutOutcome>[]

/** The first request of each id, and the others, which must find the first one stored. */
export function distinctIds(waiting: Waiting): readonly [first: Waiting, later: Waiting] {
  const ids = new Set<string>()
  const { first = [], later = [] } = Object.groupBy(waiting, ({ request }) => {
    const isFirst = !ids.has(request.record.id)
    ids.add(request.record.id)
    return isFirst ? 'first' : 'later'
  })
  return [first, later]
}
