import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/**
 * The first line that matches, or a rejection where the output ends without one. The output is read
 * on afterwards: a program that nobody listens to stops at a full pipe.
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
