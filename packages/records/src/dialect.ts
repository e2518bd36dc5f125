import type { Value } from './session.ts'

/** What the engines spell differently in SQL. Each adapter gives one object of this type. */
export type Dialect = {
  /** The name of a stored table, with its schema where there is one. */
  readonly tableName: (table: string) => string
  /** The name of a table of the audit log, and the statement that creates its schema, if any. */
  readonly auditTable: (table: AuditTable) => string
  readonly auditSchema: string
  /** Names the index of a join for a planner that would not find it by itself. */
  readonly indexedBy: (index: string) => string
  /** A parameter of a statement. They are numbered from 1. */
  readonly parameter: (number: number, type: ParameterType) => string
  /** The value of a parameter that is a list: of type `text[]`, `uuid[]` or `bigint[]`. */
  readonly list: (values: readonly (string | number)[]) => string
  /** Whether an expression is one of a list. */
  readonly isAnyOf: (expression: string, list: string) => string
  /** Rows `entry` of one column `value`, from a list, as what follows `from`. */
  readonly entriesOf: (list: string) => string
  /** Runs a query for each value of a list of texts. The query gets the name of the value. */
  readonly forEach: (list: string, count: number, query: (value: string) => string) => string
  /** What follows `from`: for each row of a table those of another, `record`, by its index. */
  readonly forEachRow: (table: string, from: string, where: string) => string
  readonly boolean: (value: boolean) => string
  /** Whether columns have values of their types, also in a table whose checks were evaded. */
  readonly hasTypes: (columns: Readonly<Record<string, 'text' | 'integer'>>) => string
  /** A member of the JSON text in a column, as text. */
  readonly jsonMember: (column: string, member: string) => string
  /** Rows `entry` of one column `value`, from a JSON array in a column, as what follows `from`. */
  readonly jsonEntries: (expression: string) => string
  /** Rows `name` of one column `value`: the texts of an array that JSON in a column has. */
  readonly jsonTexts: (column: string, member: string, name: string) => string
  /** The text of a statement's column `longText`, for a driver that must be asked for bytes. */
  readonly longText: (expression: string) => string
  /** Bytes as text, in hexadecimal digits. */
  readonly hex: (expression: string) => string
  /** The bytes of hexadecimal digits. */
  readonly bytes: (expression: string) => string
  /** Joins the texts of a group in the order of its subquery. */
  readonly joined: (expression: string, separator: string) => string
  /** Hexadecimal digits that end with the positions of the last two rows of such a group. */
  readonly lastPositions: string
  /** Bounds one of several ordered queries, for a planner that would not merge them as it goes. */
  readonly bounded: (query: string, page: string) => string
  /** The id of a record in the table of its list, where a row has its id in the position too. */
  readonly listedId: {
    /** The columns that hold it. */
    readonly columns: readonly 'id'[]
    /** The id of a row, as text or as the type of the engine. */
    readonly of: (row: string) => string
    /** The same as indexes have it, of any row with a position. */
    readonly key: (row: string) => string
    /** Whether a row has an id, which is an expression of text. */
    readonly is: (row: string, id: string) => string
    /** Whether the key of a row is one of a list of ids. */
    readonly isAnyOf: (row: string, list: string) => string
  }
  /** The column that names a stored row, and its name in the version that `joinPast` joins. */
  readonly rowName: string
  readonly pastRow: string
  /** Joins the version `past` of a record `record` that is in force at a time. */
  readonly joinPast: (kind: string, at: string) => string
  /** Rows `key` with a `customer_id` and an `id` each, as what follows `from`, and their values. */
  readonly keys: {
    readonly from: string
    readonly values: (keys: readonly RecordKey[]) => readonly Value[]
  }
  /** Selects the rows of a table, and the number of each one's `customer_id` as `customer`. */
  readonly numbered: (table: string) => string
  /** A table of parameters that are lists, one for each column, from the first parameter on. */
  readonly unnest: (name: string, columns: Readonly<Record<string, ParameterType>>) => string
  /** Ends a query: locks its rows until the commit. It waits for locked rows, or skips them. */
  readonly forUpdate: (locked: 'wait' | 'skip') => string
  /** Whether the server that answers follows another one, perhaps with a delay. */
  readonly isReplica: string
  /**
   * Queries for the newest transaction, and whether all up to one have ended. Undefined where one
   * writer at a time has the store.
   */
  readonly transactions?: { readonly newest: string; readonly haveEnded: string }
  /** The present time by the clock of the store, in microseconds. */
  readonly now: string
  /** A random number below 2^53, another one in each row. */
  readonly random: string
  /** Whether a process that runs imports holds the lock with a number. */
  readonly isImportLockHeld: (number: string) => string
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
    readonly small: string
    readonly storedAt: string
    /** A primary key that the store counts up. */
    readonly sequence: string
    /** The same for the number of a customer, of which no value comes back. */
    readonly customerSequence: string
    /** Sixteen random bytes. */
    readonly secret: string
    /** The number of a customer. */
    readonly customer: string
    /** A column of a temporary table by which its rows are found fast. */
    readonly rowNumber: string
  }
  /** Ends a table that is read in the order of its primary key. */
  readonly tableOptions: string
  /** Ends a table without such an order. */
  readonly rowTableOptions: string
  /**
   * Creates the indexes by which a customer's record is found by its id, and which keep two live
   * records of any customers from having the same one.
   */
  readonly identifying: (table: string) => string
  /** Ends an index that spans customers and has the rows of a condition. */
  readonly acrossCustomers: (condition: string) => string
  /**
   * Statements that protect a table by row-level security; empty where there is none. The column
   * has the number of a customer, or the id.
   */
  readonly protect: (table: string, column: 'customer' | 'customer_id' | 'id') => string
}

export type AuditTable =
  | 'line'
  | 'anchor'
  | 'seen'
  | 'client_mark'
  | 'token_end'
  | 'key_end'
  | 'destroyed_key'

type RecordKey = { readonly customerId: string; readonly id: string }

export type ParameterType =
  | 'bigint'
  | 'integer'
  | 'text'
  | 'uuid'
  | 'bytea'
  | 'boolean'
  | 'text[]'
  | 'uuid[]'
  | 'bigint[]'

/** The parameters of one statement, in the order in which they are added. */
export type Parameters = {
  readonly values: readonly Value[]
  /** Adds a parameter, and returns how the text names it. */
  add(value: Value, type: ParameterType): string
  /** The same for a list, whose type names that of its values. */
  addList(values: readonly string[], type: 'text[]' | 'uuid[]'): string
}

export function openParameters({ parameter, list }: Dialect): Parameters {
  const values: Value[] = []
  const add = (value: Value, type: ParameterType) => parameter(values.push(value), type)
  return { values, add, addList: (all, type) => add(list(all), type) }
}
