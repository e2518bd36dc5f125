/** What the two stores spell differently in the query of a past page. */
export type PastDialect = {
  readonly tableName: (table: string) => string
  readonly indexedBy: (index: string) => string
  readonly states: Readonly<Record<'live' | 'deleted', string>>
  /** A member of the JSON text in a column, as text. */
  readonly jsonMember: (column: string, member: string) => string
  /** Whether an expression is one of several values. */
  readonly isAnyOf: (expression: string, values: string) => string
  /** Rows `entry` of one column `value`, as what follows `from`. */
  readonly valuesOf: (values: string) => string
  /** Runs a query for each of several values. The query gets the name of the value. */
  readonly forEach: (values: readonly string[], query: (value: string) => string) => string
  /** The column that names a stored row, and its name in the version that `joinPast` joins. */
  readonly rowName: string
  readonly pastRow: string
  /** The columns `items`, `bodies`, `positions` in hex, `checksums` and `lengths` of a page. */
  readonly aggregates: (order: 'asc' | 'desc') => string
  /** A whole number as its store reads it. */
  readonly asText: (expression: string) => string
  /** Bounds one of several ordered queries, for a planner that would not merge them as it goes. */
  readonly bounded: (query: string, page: string) => string
  /** Joins the version `past` of a record `record` that is in force at a time. */
  readonly joinPast: (kind: string, at: string) => string
  /** Adds a parameter, and returns how the text names it. */
  readonly instant: (micros: bigint) => string
  readonly text: (value: string) => string
  readonly bytes: (value: Uint8Array) => string
  readonly texts: (values: readonly string[], isId: boolean) => string
  readonly count: (value: number) => string
}
