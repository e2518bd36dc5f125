import type { Readable } from 'node:stream'
import { counted } from '../../../values/counted.ts'
import { UnreadableFile } from './lines.ts'

type Silence = { readonly source: Readable; readonly secondsMax: number }

/**
 * Passes on what is read from a source. Ends the source when it sends nothing for too long, since
 * its writer may hang. The time in which the importer works on a chunk does not count.
 */
export async function* endedBySilence(
  chunks: AsyncIterable<Uint8Array>,
  { source, secondsMax }: Silence,
): AsyncIterable<Uint8Array> {
  let isAwaited = true
  const timer = setTimeout(() => {
    if (!isAwaited) return
    const silence = `sent nothing for ${counted(secondsMax, 'second')}`
    source.destroy(
      new UnreadableFile(
        `${silence}; does its writer hang? BURSAR_IMPORT_SILENCE_SECONDS_MAX allows more`,
      ),
    )
  }, secondsMax * 1000)
  // Compressed bytes may arrive for a while before they decompress to a chunk.
  const onBytes = () => void timer.refresh()
  source.on('data', onBytes)
  try {
    for await (const chunk of chunks) {
      isAwaited = false
      yield chunk
      isAwaited = true
      timer.refresh()
    }
  } finally {
    clearTimeout(timer)
    source.off('data', onBytes)
  }
}
