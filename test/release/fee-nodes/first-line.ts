import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/**
 * Resolves with the first line that matches; rejects if the output ends without one. Keeps reading
 * afterwards, since a program stops at a full pipe.
 */
export function firstLine(output: Readable, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: output })
    lines.on('line', (line) => {
      const match = pattern.exec(line)
      if (match !== null) resolve(match)
    })
    lines.on('close', () => reject(new Error(`the program ended before it printed ${pattern}`)))
  })
}
