/** What the engines spell differently in SQL. Each adapter gives one object of this type. */
export type Dialect = {
  /** The name of a stored table, with its schema where there is one. */
  readonly tableName: (table: string) => string
  /** Names the index of a join for a planner that would not find it by itself. */
  readonly indexedBy: (index: string) => string
  /** A parameter of a statement. They are numbered from 1. */
  readonly parameter: (number: number, type: ParameterType) => string
  /** The value of a parameter that is a list: of type `text[]`, `uuid[]` or `bigint[]`. */
  readonly list: (values: readonly (string | number)[]) => string
  /** Whether an expression is one of a list. */
  readonly isAnyOf: (expression: string, list: string) => string
  /** The first and the last of the positions of a group. */
  readonly lowest: string
  readonly highest: string
  readonly types: {
    /** Text that is compared byte by byte. */
    readonly key: string
    readonly boolean: string
    readonly position: string
    readonly id: string
    readonly integer: string
    readonly storedAt: string
    /** A primary key that the store counts up. */
    readonly sequence: string
  }
  readonly tableOptions: string
  /** Ends an index that spans customers and has the rows of a condition. */
  readonly acrossCustomers: (condition: string) => string
  /** A member of the JSON text in `body`, as text. */
  readonly bodyMember: (member: string) => string
  /** The checksum of a body; null where a program has to compute it. */
  readonly checksumOf: (body: string) => string
  /** Fills the masked form of replaced versions; absent where a program has to make it. */
  readonly fillMasks?: string
  /** Two columns, `low` and `high`: bounds that hold every position. */
  readonly anyPosition: string
  /** Statements that protect a table by row-level security; empty where there is none. */
  readonly protect: (table: string) => string
  /** Runs a statement that must see the rows of every customer. */
  readonly unprotected: (tables: readonly string[], statement: string) => string
}

export type ParameterType =
  | 'bigint'
  | 'integer'
  | 'text'
  | 'uuid'
  | 'bytea'
  | 'text[]'
  | 'uuid[]'
  | 'bigint[]'
