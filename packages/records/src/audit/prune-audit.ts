import type { AuditHead, AuditKey, AuditLine, AuditPlace, AuditReader, ReadLine } from '../audit.ts'
import { recordsLimits } from '../limits.ts'
import { digestOf, isSameDigest, sealOf } from './chain.ts'

type Pruning = {
  readonly reader: AuditReader
  readonly before: bigint
  /** The key for new seals, and each that lines were written with. */
  readonly key: () => AuditKey
  readonly keyOf: (id: string) => AuditKey | undefined
}

/** The lines of a chain are not as they were written, so that an anchor would hide it. */
export class PruneRefused extends Error {
  override readonly name = 'PruneRefused'
}

/**
 * Deletes the first lines of each chain, as far as they are older than a time. It leaves an anchor
 * with the digest of the last one. A step is one transaction. Returns how many lines it deleted.
 */
export async function pruneAudit(pruning: Pruning): Promise<number> {
  const { reader } = pruning
  let deleted = 0
  let place: AuditPlace | undefined
  for (;;) {
    const page = await reader.linesAfter(place, recordsLimits.auditPageLines)
    const [first] = page
    if (first === undefined) break
    const own = page.filter(({ chain }) => chain === first.chain)
    const last = await checkedPrefix(pruning, own)
    if (last !== undefined) {
      const anchor = { ...headOf(last), keyId: pruning.key().id }
      await reader.replaceBy({ ...anchor, seal: sealOf(pruning.key(), anchor) })
      deleted += Number(last.sequence - first.sequence) + 1
    }
    const isWhole = last === own.at(-1)
    // The rest of the chain is younger.
    place = isWhole ? { chain: first.chain, sequence: 0n } : endOf(first.chain)
    if (isWhole && own.length < page.length) place = endOf(first.chain)
  }
  await reader.forgetMarks(pruning.before)
  return deleted
}

/** Behind every line of a chain: the greatest number that a store keeps. */
const endOf = (chain: string) => ({ chain, sequence: 2n ** 63n - 1n })

/** The last of the first lines that are old, all of which are as they were written. */
async function checkedPrefix(
  { reader, before, keyOf }: Pruning,
  lines: readonly ReadLine[],
): Promise<AuditLine | undefined> {
  let last: AuditLine | undefined
  let previous: AuditHead | undefined
  for (const line of lines) {
    // A chain that is no text has no place behind its end.
    if (line.isLegible && line.at >= before) return last
    previous ??= line.sequence === 1n ? undefined : await reader.anchor(line.chain)
    const key = keyOf(line.keyId)
    const isNext = line.sequence === (previous?.sequence ?? 0n) + 1n
    const digest = key && digestOf(key, previous?.digest ?? '', line)
    if (!line.isLegible || !isNext || digest === undefined || !isSameDigest(line.digest, digest)) {
      throw new PruneRefused(
        `line ${line.sequence} of chain ${line.chain} is not as it was written, so its chain is not pruned`,
      )
    }
    previous = line
    last = line
  }
  return last
}

const headOf = ({ chain, sequence, digest }: AuditLine): AuditHead => ({ chain, sequence, digest })
