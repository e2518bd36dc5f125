import type { Position } from '../position.ts'

/** Which records a page shows. Values of one filter are joined by OR, filters by AND. */
export type Selection = {
  readonly anyOf: readonly { readonly column: string; readonly values: readonly string[] }[]
  /** The range of the member that sorts the list, in microseconds: from ≤ time < before. */
  readonly from: bigint | undefined
  readonly before: bigint | undefined
  readonly includeDeleted: boolean
  readonly order: 'ASC' | 'DESC'
  /** The last position of the previous page. */
  readonly after: Position | undefined
  /** The log position of the previous page. A replica that is behind it must not answer. */
  readonly notBefore?: bigint | undefined
  readonly limit: number
}

/** The state of a tenant's records of one kind. A change to what lists answer gives another. */
export type Revision = {
  /** When a record last changed, in microseconds. 0 before the first record. */
  readonly changedAt: bigint
  /**
   * How often this process has found damage of the kind: an earlier page may show damaged bytes.
   */
  readonly damageMet: number
}

/** Records as a page answers them. */
export type PageRows = {
  /** The records, joined by commas. */
  readonly items: Uint8Array
  /** Ends the use of `items`, whose memory the store then reuses. */
  readonly release?: () => void
  readonly rows: number
  readonly last: Position | undefined
  readonly more: boolean
}

export type Page = PageRows & {
  readonly revision: Revision
  /** The position in the store's log, in bytes. Absent where the store has no replicas. */
  readonly logPosition?: bigint
}
