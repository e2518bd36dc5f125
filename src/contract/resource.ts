import { type TObject, type TSchema, Type } from 'typebox'

/** A record as it came in, already of its schema's shape. */
export type RecordInput = Readonly<Record<string, unknown>>

export type RecordFault = { readonly member: string; readonly reason: string }

/** What the operator's configuration adds to the rules of a record. */
export type RecordRules = {
  readonly statementTypes: ReadonlySet<string>
  readonly statementProducts: ReadonlySet<string>
  /** Deposit addresses of test networks are taken beside the main ones. */
  readonly testnets: boolean
}

/**
 * A noun of the contract: the shape in which records enter, the members that lists filter on, and how a record is
 * rendered to the bytes that will be answered.
 */
export type Resource<Column extends string = string, Kind extends string = string> = {
  /** As the command line spells it. */
  readonly kind: Kind
  /** The table's name on every store, and the stem of its indexes' names. */
  readonly table: string
  readonly noun: string
  /** The record as import takes it: the contract's members and the operator's own. */
  readonly record: TObject
  /** Filter columns besides id and ref_id, the most selective first: a page starts from the first one given. */
  readonly columns: Readonly<Record<Column, string>>
  readonly orderBy: 'created_at' | 'period_start'
  readonly deletable: boolean
  /** Members whose values no two records may share, whoever owns them. */
  readonly uniqueMembers: readonly string[]
  /**
   * Members that together belong to one customer: another customer's record may not repeat them, in any spelling. They
   * are compared by `key`, which stands in the column `exclusive_key`.
   */
  readonly exclusive: Exclusive | undefined
  /** Members that the operator sends and no view answers. */
  readonly withheldMembers: readonly string[]
  /** What a schema cannot say: checksums, members that depend on each other. */
  readonly check: (record: RecordInput, rules: RecordRules) => readonly RecordFault[]
  /** Fills in what the contract always answers, so that what is stored is whole. */
  readonly complete: (record: RecordInput) => RecordInput
  /** The masked form for lists; absent where lists answer the full record. */
  readonly mask?: (full: RecordInput) => RecordInput
}

type Exclusive = {
  readonly members: readonly string[]
  readonly key: (record: RecordInput) => string
}

declare const listedBrand: unique symbol

/** A table with the sort key and the filter columns of a resource, so that pages can be read from it. */
export type ListedTable = string & { readonly [listedBrand]: true }

/** One way to answer a resource, and the table that holds it. A store reads a view from its table and from no other. */
export type View<R extends Resource = Resource, Table extends string = string> = {
  readonly name: string
  readonly resource: R
  readonly table: Table
  readonly schema: TSchema
}

export type ListView<R extends Resource = Resource> = View<R, ListedTable>

type Plain = 'deletable' | 'uniqueMembers' | 'exclusive' | 'check' | 'complete'

/** Declares a resource; what most of them do without may be left out. */
export function defineResource<const Kind extends string, const Column extends string = never>(
  declaration: Omit<Resource<Column, Kind>, Plain> & Partial<Pick<Resource<Column>, Plain>>,
): Resource<Column, Kind> {
  return {
    deletable: false,
    uniqueMembers: [],
    exclusive: undefined,
    check: () => [],
    complete: (record) => record,
    ...declaration,
  }
}

/** The view of the resource's own table: masked where the resource has a mask, else everything. */
export const listView = <R extends Resource>(
  name: string,
  resource: R,
  answered: Readonly<Record<string, TSchema>>,
): ListView<R> => ({
  name,
  resource,
  table: resource.table as ListedTable,
  schema: Type.Object(answered),
})

/** The view of everything, of a resource with a mask. No page can be read from its table. */
export const unmaskedView = <R extends Resource>(
  name: string,
  resource: R,
  answered: Readonly<Record<string, TSchema>>,
): View<R> => ({ name, resource, table: fullTable(resource), schema: Type.Object(answered) })

/** Where records are stored in full: in a table of its own where the resource has a mask. */
export const fullTable = ({ table, mask }: Resource): string =>
  mask === undefined ? table : `${table}_full`
