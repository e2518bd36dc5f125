import type { LineFault } from '../../store/records/import.ts'
import { counted } from '../../values/counted.ts'

/** What the operator knows about the whole input. */
export type Expected = {
  readonly records?: number | undefined
  /** Of the bytes before decompression, in lower-case hex. */
  readonly sha256?: string | undefined
  readonly mayBeEmpty?: boolean
}

type Input = { readonly records: number; readonly sha256: string | undefined }

/**
 * How an input that was read to its end differs from what the operator expects. NDJSON and CSV have
 * no end mark: after a line break, an input that was cut off looks complete.
 */
export function inputFaults({ records, sha256 }: Input, expected: Expected = {}): LineFault[] {
  const found: Pick<LineFault, 'code' | 'reason'>[] = []
  if (expected.records !== undefined && expected.records !== records) {
    const has = `has ${counted(records, 'record')}, and --expect says ${expected.records}`
    found.push({ code: 'incomplete', reason: `${has}; is it complete?` })
  } else if (records === 0 && expected.records === undefined && expected.mayBeEmpty !== true) {
    const reason = 'has no record; if that is right, add --allow-empty'
    found.push({ code: 'missing', reason })
  }
  if (expected.sha256 !== undefined && expected.sha256 !== sha256) {
    const reason = `has the SHA-256 checksum ${sha256}, not the one of --sha256; is it complete?`
    found.push({ code: 'incomplete', reason })
  }
  return found.map((fault) => ({ line: 0, member: 'file', ...fault }))
}
