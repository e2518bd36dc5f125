import type { Readable } from 'node:stream'
import { counted, limitsOf, systemTime } from '@bursar/base'
import { type Problem, problem } from '@bursar/contract'

const limits = limitsOf({
  /** What a client must send in each minute that the server waits for it: 60 compressed records. */
  streamWindowSeconds: 60,
  streamWindowBytesMin: 4096,
})

type Watched = {
  readonly source: Readable
  readonly bytesReceived: () => number
  /** Ends the stream. */
  readonly end: (reason: Problem) => void
}

type RateBounds = { readonly streamWindowSeconds: number; readonly streamWindowBytesMin: number }

/**
 * Ends a stream whose client sends too little to keep its slot from others. A second counts if the
 * server has read all that has arrived, so that its own work is not held against the client.
 * Returns the function that stops the watch.
 */
export function watchRate(
  { source, bytesReceived, end }: Watched,
  { streamWindowSeconds: seconds, streamWindowBytesMin: bytesMin }: RateBounds = limits,
): () => void {
  let waited = 0
  let bytesBefore = 0
  const tick = () => {
    if (source.readableEnded || source.readableLength > 0) return
    waited += 1
    if (waited < seconds) return
    const bytes = bytesReceived() - bytesBefore
    waited = 0
    bytesBefore += bytes
    if (bytes < bytesMin) end(tooSlow(bytes, seconds, bytesMin))
  }
  return systemTime.every(1000, tick)
}

/** The connection is closed, because the rest of the stream may take forever. */
const tooSlow = (bytes: number, seconds: number, bytesMin: number): Problem =>
  problem(
    'notSentInTime',
    `the stream sent ${counted(bytes, 'byte')} in ${counted(seconds, 'second')}, and must send ${bytesMin}; collect the records before you send them`,
    { headers: { connection: 'close' } },
  )
