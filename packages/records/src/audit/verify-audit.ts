import { counted } from '@bursar/base'
import type {
  AuditAnchor,
  AuditHead,
  AuditKey,
  AuditLine,
  AuditReader,
  ReadLine,
} from '../audit.ts'
import { recordsLimits } from '../limits.ts'
import { digestOf, isSameDigest, sealOf } from './chain.ts'

export type AuditFault = 'changed' | 'removed' | 'cut' | 'unknown_key' | 'anchor'

/** Something in the audit log that the program has not written so. */
export type AuditFinding = {
  readonly fault: AuditFault
  readonly chain: string
  readonly sequence: bigint
  readonly detail: string
}

export type AuditChecked = {
  readonly lines: number
  readonly chains: number
  readonly heads: number
  readonly findings: number
}

type Verification = {
  readonly reader: AuditReader
  /** The key with this id, also a revoked one. */
  readonly keyOf: (id: string) => AuditKey | undefined
  /** Heads that were kept elsewhere. They must be of lines that were stored before. */
  readonly heads: AsyncIterable<AuditHead>
  readonly found: (finding: AuditFinding) => void
}

/**
 * Checks every line against the one before, and every head against its line. Whatever the columns
 * hold, a line that the program has not written is a finding. It holds one page of lines at a time.
 * Lines may be added, and old ones pruned, meanwhile.
 */
export async function verifyAudit(verification: Verification): Promise<AuditChecked> {
  let findings = 0
  const checking: Verification = {
    ...verification,
    found: (finding) => {
      findings += 1
      verification.found(finding)
    },
  }
  const heads = await checkHeads(checking)
  const { lines, chains } = await checkLines(checking)
  await checkStrays(checking)
  return { lines, chains, heads, findings }
}

/** Before the lines, so that a line that is cut meanwhile is missed by neither check. */
async function checkHeads({ reader, heads, keyOf, found }: Verification): Promise<number> {
  let checked = 0
  for await (const head of heads) {
    checked += 1
    const line = await reader.find(head)
    if (line !== undefined) {
      if (!isSameDigest(line.digest, head.digest)) {
        found({
          ...placeOf(head),
          fault: 'changed',
          detail: 'the line differs from the head that was kept of it',
        })
      }
      continue
    }
    const anchor = await reader.anchor(head.chain)
    if (anchor !== undefined && anchor.sequence >= head.sequence && isSealed(anchor, keyOf)) {
      const isOther = anchor.sequence === head.sequence && anchor.digest !== head.digest
      if (!isOther) continue
    }
    found({
      ...placeOf(head),
      fault: 'cut',
      detail: 'the chain had this line when its head was kept, and the line is gone',
    })
  }
  return checked
}

async function checkLines({ reader, keyOf, found }: Verification) {
  let last: ReadLine | undefined
  let previous: AuditHead | undefined
  let lines = 0
  let chains = 0
  for (;;) {
    const page: readonly ReadLine[] = await reader.linesAfter(last, recordsLimits.auditPageLines)
    for (const line of page) {
      const { chain, sequence, digest, isLegible } = line
      if (chain !== last?.chain) {
        chains += 1
        previous = undefined
      }
      last = line
      lines += 1
      if (!isLegible || sequence < 1n) {
        const detail = 'the program writes no line with such a place or such bytes'
        found({ ...placeOf(line), fault: 'changed', detail })
        // The first line of the chain is not compared with it.
        continue
      }
      const before = previous ?? { chain, sequence: 0n, digest: '' }
      const link = await linkBefore(reader, keyOf, line, before)
      if ('detail' in link) found(link)
      else checkLine(line, link, keyOf, found)
      previous = { chain, sequence, digest }
    }
    if (page.length < recordsLimits.auditPageLines) return { lines, chains }
  }
}

async function checkStrays({ reader, found }: Verification): Promise<void> {
  const strays = await reader.strays()
  if (strays === 0n) return
  const detail = `${counted(Number(strays), 'row')} of the table cannot be lines, since a value is missing or of another type`
  found({ chain: '', sequence: 0n, fault: 'changed', detail })
}

/** What comes before a line: a line, or the anchor of lines that were pruned. Or the fault. */
async function linkBefore(
  reader: AuditReader,
  keyOf: Verification['keyOf'],
  line: AuditLine,
  before: AuditHead,
): Promise<AuditHead | AuditFinding> {
  if (line.sequence === before.sequence + 1n) return before
  const anchor = await reader.anchor(line.chain)
  if (anchor?.sequence === line.sequence - 1n) {
    if (isSealed(anchor, keyOf)) return anchor
    return {
      ...placeOf(anchor),
      fault: 'anchor',
      detail: 'the anchor of pruned lines has a wrong seal, so their removal was no pruning',
    }
  }
  const from = before.sequence + 1n
  const until = line.sequence - 1n
  const gone = from === until ? `line ${from} is` : `lines ${from} to ${until} are`
  return { fault: 'removed', chain: line.chain, sequence: from, detail: `${gone} missing` }
}

function checkLine(
  line: AuditLine,
  before: AuditHead,
  keyOf: Verification['keyOf'],
  found: Verification['found'],
): void {
  const key = keyOf(line.keyId)
  if (key === undefined) {
    const detail = 'the store has no audit key with the id that the line names'
    found({ ...placeOf(line), fault: 'unknown_key', detail })
  } else if (!isSameDigest(line.digest, digestOf(key, before.digest, line))) {
    const detail = 'the line, or the one before it, is not as it was written'
    found({ ...placeOf(line), fault: 'changed', detail })
  }
}

const placeOf = ({ chain, sequence }: AuditHead) => ({ chain, sequence })

function isSealed(anchor: AuditAnchor, keyOf: Verification['keyOf']): boolean {
  const key = keyOf(anchor.keyId)
  return key !== undefined && isSameDigest(anchor.seal, sealOf(key, anchor))
}
