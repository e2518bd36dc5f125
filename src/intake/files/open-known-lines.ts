import type { RecordRules, Resource } from '../../contract/resource.ts'
import type {
  DigestSource,
  KnownRecord,
  RecordLoad,
  StorableRecord,
} from '../../store/records/import.ts'
import type { Entry } from '../entry.ts'
import { givenTo, type RecordSource, sourceDigests } from '../source-digest.ts'
import type { FindKnown, Sources } from './reading/read-entries.ts'

type KnownLines = {
  /** Finds the entries that need not be parsed. */
  readonly find: FindKnown
  /** Makes the digest to store with the record of an entry. */
  digesting(entry: Entry, record: StorableRecord): DigestSource | undefined
}

type Deps = {
  readonly load: Pick<RecordLoad, 'isFirst' | 'stored'>
  readonly resource: Resource
  readonly options: { readonly customerId?: string | undefined; readonly rules: RecordRules }
}

/** Looks up which records of a file are stored as they are; see `source-digest.ts`. */
export function openKnownLines({ load, resource, options }: Deps): KnownLines {
  const { customerId, rules } = options
  const digests = sourceDigests(resource, rules)
  let sources: Sources | undefined
  const isKnown = (source: Omit<RecordSource, 'givenCustomer'>, stored: KnownRecord): boolean => {
    const named = { ...source, givenCustomer: undefined }
    if (customerId === undefined) return digests.isKnown(named, stored)
    // A record of another customer is a fault, even if it is stored.
    if (stored.customerId !== customerId) return false
    return (
      digests.isKnown({ ...source, givenCustomer: customerId }, stored) ||
      digests.isKnown(named, stored)
    )
  }
  return {
    find: async (entries, ofFile) => {
      sources = ofFile
      if (load.isFirst) return entries.map(() => undefined)
      const texts = entries.map((entry) => ofFile.textOf(entry))
      const ids = texts.map((text) => ofFile.idIn(text))
      const wanted = new Set(ids.filter((id) => id !== undefined))
      if (wanted.size === 0) return entries.map(() => undefined)
      const records = await load.stored([...wanted])
      const byId = new Map(records.map((record) => [record.id, record]))
      return texts.map((text, at) => {
        const stored = byId.get(ids[at] ?? '')
        if (stored === undefined || !isKnown({ text, form: ofFile.form }, stored)) return undefined
        return { id: stored.id, digest: stored.sourceDigest ?? 0n }
      })
    },
    digesting: (entry, record) => {
      if (sources === undefined || entry.raw === undefined || !('value' in entry)) return undefined
      const text = sources.textOf({ line: entry.line, raw: entry.raw })
      const givenCustomer = givenTo(entry.value, customerId)
      return digests.digesting({ text, form: sources.form, givenCustomer }, record)
    },
  }
}
