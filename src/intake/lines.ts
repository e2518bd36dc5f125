import { isUtf8 } from 'node:buffer'
import { echo } from '../contract/problem.ts'
import { limits } from '../platform/limits.ts'
import { repeatedMembers } from '../values/scan-json.ts'

/** One value of a file and the line that it starts on, or the fault of that line. */
export type Entry =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly reason: string }

const NEWLINE = 0x0a

/** Reads newline-delimited JSON. Skips blank lines. Memory holds one line at a time. */
export async function* readNdjson(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Entry> {
  let line = 0
  for await (const bytes of splitLines(chunks)) {
    line += 1
    const entry = parseJson(line, bytes)
    if (entry !== undefined) yield entry
  }
}

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk])
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      yield bytes.subarray(from, end)
      from = end + 1
    }
    rest = bytes.subarray(from)
    if (rest.length > limits.recordBytesMax) {
      yield rest
      throw new UnreadableFile(
        'a line is longer than a record may be; is this a file of one record a line?',
      )
    }
  }
  if (rest.length > 0) yield rest
}

/** The file cannot be read past `line`, or at all if it is 0. Earlier faults are still reported. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
  readonly line: number

  constructor(message: string, line = 0) {
    super(message)
    this.line = line
  }
}

/** Returns undefined for a blank line. */
export function parseJson(line: number, bytes: Uint8Array): Entry | undefined {
  if (bytes.length > limits.recordBytesMax) {
    return { line, reason: `a record may have at most ${limits.recordBytesMax} bytes` }
  }
  if (!isUtf8(bytes)) return { line, reason: 'is not UTF-8' }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const json = (line === 1 ? text.replace(/^\uFEFF/, '') : text).trim()
  if (json === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return { line, reason: `is not JSON: ${(error as Error).message.replace(/, ?".*$/s, '')}` }
  }
  const [member] = repeatedMembers(json, value)
  if (member === undefined) return { line, value }
  return { line, reason: `names the member ${echo(member)} twice` }
}
