import { createHmac, hash } from 'node:crypto'
import type { RecordRules, Resource } from '../contract/resource.ts'
import { version } from '../platform/version.ts'
import type { DigestSource, KnownRecord, StorableRecord } from '../store/records/import.ts'
import { isJsonBlank } from '../values/scan-json.ts'

/**
 * Most lines of a daily file are the same as yesterday. A line is known if the store has a digest
 * of this very line, together with everything that it keeps of the record: then the record is what
 * the line says, and is not damaged. Such a line is neither parsed nor staged.
 *
 * The digest covers what is stored too, so that an import of the same file still mends a damaged
 * record. It covers the version of the program and the rules of the operator, which decide how a
 * line is stored. Kinds that are sealed have a keyed digest. A record that was withdrawn, or
 * restored by other means, has none. A digest of the whole file would not do: one changed record
 * would cost as much as all.
 */
export type SourceDigests = {
  /** Makes the digest to store with a record that has come from a source. */
  digesting(source: RecordSource, record: StorableRecord): DigestSource
  /** Whether a stored record has the digest of this source. */
  isKnown(source: RecordSource, stored: KnownRecord): boolean
}

/** The bytes of one record, as it came. */
export type RecordSource = {
  /** A character for each byte. */
  readonly text: string
  /** What else decides on its members, such as the header of CSV. */
  readonly form: string
  /** The customer that the request or the command gives to it; undefined if it names its own. */
  readonly givenCustomer: string | undefined
}

export function sourceDigests({ kind }: Resource, rules: RecordRules): SourceDigests {
  const decisive = [
    version,
    kind,
    rules.testnets,
    [...rules.statementTypes],
    [...rules.statementProducts],
  ]
  const seed = hash('sha256', JSON.stringify(decisive), 'base64')
  const digest = (
    { text, form, givenCustomer = '' }: RecordSource,
    { customerId, content, key }: Pick<KnownRecord, 'customerId' | 'content' | 'key'>,
  ) => {
    const digested = [seed, form, givenCustomer, text, customerId, content].join('\n')
    // In hexadecimal digits it takes a third of the time that it takes in a buffer.
    const digits = key === undefined ? hash('sha1', digested) : keyedHash(key, digested)
    return BigInt(`0x${digits.slice(0, 16)}`)
  }
  return {
    digesting:
      (source, { customerId, deletedAt }) =>
      (content, key) => {
        const found = digest(source, { customerId, content, key })
        // The first bit says that the line mentions no deletion, so that a stored one stays.
        const keepsDeletion = deletedAt === undefined ? 1n : 0n
        return BigInt.asIntN(64, (found & ~1n) | keepsDeletion)
      },
    isKnown: (source, stored) => {
      if (stored.sourceDigest === null) return false
      const found = BigInt.asIntN(64, digest(source, stored))
      return (found | 1n) === (stored.sourceDigest | 1n)
    },
  }
}

/** A digest of a line with an account number would give the number away without a key. */
const keyedHash = (key: Uint8Array, digested: string): string =>
  createHmac('sha256', key).update(digested).digest('hex')

/** One JSON text, without the blanks around it, which mean nothing. */
export function jsonSource(raw: Uint8Array, givenCustomer: string | undefined): RecordSource {
  return { text: jsonText(raw), form: JSON_FORM, givenCustomer }
}

export const JSON_FORM = 'json'

export function jsonText(raw: Uint8Array): string {
  let [from, end] = [0, raw.length]
  while (end > from && isJsonBlank(raw[end - 1])) end -= 1
  while (from < end && isJsonBlank(raw[from])) from += 1
  return latin1(raw, from, end)
}

/** A character for each byte, which is faster than to decode them. */
export const latin1 = (raw: Uint8Array, from = 0, end = raw.length): string =>
  Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1', from, end)

/** The customer of a record that names none. */
export function givenTo(value: unknown, customerId: string | undefined): string | undefined {
  const namesIt = typeof value === 'object' && value !== null && Object.hasOwn(value, 'customer_id')
  return namesIt ? undefined : customerId
}
