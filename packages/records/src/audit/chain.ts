import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AuditAnchor, AuditHead, AuditKey, AuditLine } from '../audit.ts'

/** The digest of a line. It is a function of the key, of every member and of the line before. */
export const digestOf = (
  { key }: AuditKey,
  previous: string,
  { chain, sequence, at, keyId, body }: Omit<AuditLine, 'digest'>,
): string => keyed(key, ['line', previous, chain, String(sequence), String(at), keyId, body])

/** The seal of an anchor. Nobody without the key can say that lines were deleted rightly. */
export const sealOf = (
  { key }: AuditKey,
  { chain, sequence, digest, keyId }: Omit<AuditAnchor, 'seal'>,
): string => keyed(key, ['anchor', chain, String(sequence), digest, keyId])

/** JSON keeps the parts apart, whatever text they have. */
const keyed = (key: Uint8Array, parts: readonly string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex')

/** A stored digest may have any characters, so its bytes are compared. */
export function isSameDigest(stored: string, digest: string): boolean {
  const [one, other] = [Buffer.from(stored), Buffer.from(digest)]
  return one.length === other.length && timingSafeEqual(one, other)
}

export type Linked = { readonly lines: readonly AuditLine[]; readonly head: AuditHead }

/** Lines with these bodies, behind the head of a chain. */
export function linkLines(
  head: AuditHead,
  bodies: readonly string[],
  key: AuditKey,
  at: bigint,
): Linked {
  const lines: AuditLine[] = []
  let { sequence, digest } = head
  for (const body of bodies) {
    sequence += 1n
    const line = { chain: head.chain, sequence, at, keyId: key.id, body }
    digest = digestOf(key, digest, line)
    lines.push({ ...line, digest })
  }
  return { lines, head: { chain: head.chain, sequence, digest } }
}
