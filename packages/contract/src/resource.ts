import { type TObject, type TSchema, Type } from 'typebox'
import type { RecordFaultCode } from './fault-codes.ts'

/** A record as the operator sent it. It has passed its schema. */
export type RecordInput = Readonly<Record<string, unknown>>

export type RecordFault = {
  readonly member: string
  readonly code: RecordFaultCode
  /** Does not name the member. */
  readonly reason: string
}

/** The rules of a record that come from the operator's configuration. */
export type RecordRules = {
  readonly statementTypes: ReadonlySet<string>
  readonly statementProducts: ReadonlySet<string>
  /** Whether deposit addresses of test networks are accepted. */
  readonly testnets: boolean
}

/**
 * A kind of record: its schema, the columns that lists filter on, its checks, and how a record is
 * completed and masked before it is stored. The tables of both stores are created from it.
 */
export type Resource<Column extends string = string, Kind extends string = string> = {
  /** As the command line spells it. */
  readonly kind: Kind
  /** The name of the table on both stores; the names of its indexes start with it. */
  readonly table: string
  readonly noun: string
  /** What a record is, for the OpenAPI document. */
  readonly description: string
  /** The record that import accepts: the members of the contract and those of the operator. */
  readonly record: TObject
  /** Filter columns besides id and ref_id, most selective first; pages scan the first given. */
  readonly columns: Readonly<Record<Column, string>>
  readonly orderBy: 'created_at' | 'period_start'
  readonly deletable: boolean
  /** Whether customers pay to what a record says: each row then has a keyed checksum. */
  readonly isPaidTo: boolean
  /** Filter columns whose values are unique across customers. */
  readonly uniqueMembers: readonly string[]
  /** A value that one customer has on each network: no record of another one may have it. */
  readonly exclusive: Exclusive | undefined
  /** The values of the member `status`, by which lists of all customers are read. */
  readonly statuses: readonly string[]
  /** What else the record is found or sorted by across customers. */
  readonly terms: Terms | undefined
  /** Members that the operator sends and no response shows. */
  readonly withheldMembers: readonly string[]
  /** Checks that a schema cannot express, such as checksums. */
  readonly check: (record: RecordInput, rules: RecordRules) => readonly RecordFault[]
  /** Fills in the members that every response must have. */
  readonly complete: (record: RecordInput) => RecordInput
  /** The masked form for lists. Absent for kinds whose lists show the full record. */
  readonly mask?: (full: RecordInput) => RecordInput
  /** The record with what its mask adds, for answers that may show either form. */
  readonly maskedRecord?: TObject
}

export type Exclusive = {
  /** A filter column: the network that the record names. */
  readonly network: string
  /** The member that lists every network on which the value is the record's, its own included. */
  readonly networks: string
  /** A filter column. `exclusive_key` has one short text for all spellings of a value. */
  readonly member: string
  readonly key: (record: RecordInput) => string
  /** Every key that a value of `member` may have. */
  readonly keysOf: (value: string) => readonly string[]
}

/**
 * The terms of a kind. They are derived from the record alone, so that the store can compare them
 * with it, and a record has few of them.
 */
export type Terms = {
  /** One letter that begins the stored terms of the kind, and of no other kind. */
  readonly letter: string
  readonly of: (record: RecordInput) => readonly Term[]
  /** How a search looks a text up among them; absent where they are only for lists. */
  readonly sought?: (text: string) => readonly Sought[]
}

/** The names of terms, each of which a record that a search finds has. None find nothing. */
export type Sought = {
  /** The member that the answer names. */
  readonly matched: string
  readonly names: readonly string[]
  readonly isPrivate?: boolean
}

/** Something that records are found by, or with `sort` an order in which they are listed. */
export type Term = {
  readonly name: string
  /** The place of the record in the order of the term: texts are compared byte by byte. */
  readonly sort?: string
  /** The time from which the record is listed, in microseconds; absent for any time. */
  readonly since?: bigint
  /** Whether the store has only a keyed digest of the name, for those who may see full records. */
  readonly isPrivate?: boolean
}

declare const listedBrand: unique symbol

/** A table with the sort key and the filter columns of a resource, so pages can be read from it. */
export type ListedTable = string & { readonly [listedBrand]: true }

/** One form of a resource in responses. A store reads it from this table only. */
export type View<R extends Resource = Resource, Table extends string = string> = {
  readonly name: string
  readonly resource: R
  readonly table: Table
  readonly schema: TSchema
}

export type ListView<R extends Resource = Resource> = View<R, ListedTable>

type Plain =
  | 'deletable'
  | 'isPaidTo'
  | 'uniqueMembers'
  | 'exclusive'
  | 'statuses'
  | 'terms'
  | 'check'
  | 'complete'

/** Declares a resource. Members that most kinds do not need have defaults. */
export function defineResource<const Kind extends string, const Column extends string = never>(
  declaration: Omit<Resource<Column, Kind>, Plain> & Partial<Pick<Resource<Column>, Plain>>,
): Resource<Column, Kind> {
  return {
    deletable: false,
    isPaidTo: false,
    uniqueMembers: [],
    exclusive: undefined,
    statuses: [],
    terms: undefined,
    check: () => [],
    complete: (record) => record,
    ...declaration,
  }
}

/** The view for lists: masked where the resource has a mask, else the full record. */
export const listView = <R extends Resource>(
  name: string,
  resource: R,
  answered: Readonly<Record<string, TSchema>>,
): ListView<R> => ({
  name,
  resource,
  table: resource.table as ListedTable,
  schema: viewSchema(resource, answered),
})

/** The full view of a resource with a mask. No page can be read from its table. */
export const unmaskedView = <R extends Resource>(
  name: string,
  resource: R,
  answered: Readonly<Record<string, TSchema>>,
): View<R> => ({
  name,
  resource,
  table: fullTable(resource),
  schema: viewSchema(resource, answered),
})

const viewSchema = (
  { description }: Resource,
  answered: Readonly<Record<string, TSchema>>,
): TObject => Type.Object(answered, { description })

/** The table that stores unmasked records: a separate table if the resource has a mask. */
export const fullTable = ({ table, mask }: Resource): string =>
  mask === undefined ? table : `${table}_full`

/** Whether the full records of a kind are sealed in the store: those that its lists mask. */
export const isSealedKind = ({ mask }: Pick<Resource, 'mask'>): boolean => mask !== undefined

/** Whether the checksum of a kind's records takes the key of their customer; others have a CRC. */
export const isKeyedKind = (resource: Pick<Resource, 'mask' | 'isPaidTo'>): boolean =>
  resource.isPaidTo || isSealedKind(resource)
