import { hash } from 'node:crypto'
import type { RecordRules, Resource } from '../../contract/resource.ts'
import { version } from '../../platform/version.ts'
import { bodyChecksum } from '../../store/integrity/checksum.ts'
import type { StoredRow } from '../../store/integrity/stored-rows.ts'
import type { KnownLine, RecordLoad, StorableRecord } from '../../store/records/import.ts'
import type { FileLines } from './file-lines.ts'
import type { FindKnown, RawLine } from './reading/lines.ts'

/**
 * Most lines of a daily file are the same as yesterday. A line is known if the store has a digest
 * of this very line, together with everything that it keeps of the record: then the record is what
 * the line says, and is not damaged. Such a line is neither parsed nor staged.
 *
 * The digest covers the stored row too, so that an import of the same file still mends a damaged
 * record. It covers the version of the program and the rules of the operator, which decide how a
 * line is stored. Another way to store a record leaves it empty. A digest of the whole file would
 * not do: one changed record would cost as much as all.
 */
type KnownLines = {
  readonly find: FindKnown
  /** The digest to store with the record of a line that was looked up. */
  digestOf(line: number, record: StorableRecord): bigint | undefined
}

type Deps = {
  readonly load: Pick<RecordLoad, 'isFirst' | 'stored' | 'noteKnown'>
  readonly lines: Pick<FileLines, 'numberOf'>
  readonly resource: Resource
  readonly options: { readonly customerId?: string | undefined; readonly rules: RecordRules }
}

export function openKnownLines({ load, lines, resource, options }: Deps, file: number): KnownLines {
  const seed = seedOf(resource, options)
  let looked = new Map<number, string>()
  return {
    find: async (raw) => {
      looked = new Map(raw.map((one) => [one.line, textOf(one)]))
      if (load.isFirst) return new Set()
      const byId = Map.groupBy(looked, ([, text]) => idIn(text))
      const ids = [...byId.keys()].filter((id) => id !== undefined)
      const known: KnownLine[] = []
      for (const { row, sourceDigest: digest } of await load.stored(ids)) {
        const content = storedContent(row)
        for (const [line, text] of byId.get(row.id) ?? []) {
          if (digest === null || digestOf(seed, text, content) !== digest) continue
          known.push({ file, line, id: row.id, digest })
        }
      }
      const numbered = known.map((one) => ({ ...one, line: lines.numberOf(one) }))
      if (known.length > 0) await load.noteKnown(numbered)
      return new Set(known.map(({ line }) => line))
    },
    digestOf: (line, record) => {
      const text = looked.get(line)
      return text === undefined ? undefined : digestOf(seed, text, stagedContent(record))
    },
  }
}

const textOf = ({ raw }: RawLine): string =>
  Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1')

/** The id that a line seems to have. If it is not the record's, the digests differ. */
const idIn = (text: string): string | undefined =>
  /"id"\s*:\s*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"/.exec(text)?.[1]

/** What else decides how a line is stored. */
const seedOf = ({ kind }: Resource, { customerId, rules }: Deps['options']): string =>
  JSON.stringify([
    version,
    kind,
    customerId ?? null,
    rules.testnets,
    [...rules.statementTypes],
    [...rules.statementProducts],
  ])

type Content = readonly (string | number | bigint | boolean | null)[]

const digestOf = (seed: string, line: string, content: Content): bigint =>
  hash('sha1', `${seed}\u0000${line}\u0000${content.join('\u0000')}`, 'buffer').readBigInt64BE()

const positionText = (position: Uint8Array): string =>
  Buffer.from(position.buffer, position.byteOffset, position.byteLength).toString('hex')

/** Everything stored of a record, in one order. */
function storedContent(row: StoredRow): Content {
  const { listed, unmasked } = row
  return [
    row.customerId,
    row.id,
    row.deleted,
    positionText(row.position),
    ...Object.values(row.members),
    listed.body,
    listed.checksum,
    ...(unmasked == null ? [] : [unmasked.body, unmasked.checksum, unmasked.deleted]),
    row.deletedAt,
    row.updatedAt,
    row.sourceVersion,
  ]
}

/** The same of a record that will be stored. */
function stagedContent(record: StorableRecord): Content {
  const { customerId, full, masked } = record
  const deletedAt = record.deletedAt ?? null
  const isDeleted = deletedAt !== null
  const listed = masked ?? full
  return [
    customerId,
    record.id,
    isDeleted,
    positionText(record.position),
    ...Object.values(record.members),
    listed,
    bodyChecksum(customerId, listed),
    ...(masked === null ? [] : [full, bodyChecksum(customerId, full), isDeleted]),
    deletedAt,
    record.updatedAt,
    record.sourceVersion,
  ]
}
