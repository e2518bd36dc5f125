import type { ReactNode } from 'react'

/** A record as the API answers it. */
export type RecordData = Readonly<Record<string, unknown>> & { readonly id: string }

/** A kind of record on the screen: its list, the filters that this takes, and its columns. */
export type Kind = {
  /** As the API spells it. */
  readonly name: string
  readonly title: string
  readonly noun: string
  /** The customer's list. */
  readonly path: string
  readonly scope: string
  readonly envelope: string
  readonly idFilter: string
  readonly orderBy: string
  readonly filters: readonly Filter[]
  /** The identifiers that a customer's search tries. */
  readonly finders: readonly Finder[]
  readonly columns: readonly ColumnOf[]
  readonly hasDeleted?: boolean
  /** Whether lists hide account numbers that the full record has. */
  readonly isMasked?: boolean
}

export type Filter = {
  /** As the query spells it. */
  readonly name: string
  readonly label: string
  readonly type: 'text' | 'instant' | 'flag'
  /** The values that a choice has; with their words. */
  readonly choices?: readonly string[]
}

type Finder = {
  readonly filter: string
  readonly matched: string
  readonly takes: 'uuid' | 'text' | 'any'
}

export type ColumnOf = {
  readonly name: string
  readonly title: string
  /** What a file has in this column. */
  readonly text: (record: RecordData) => string
  /** What the table shows, if it is not the text. */
  readonly cell?: (record: RecordData) => ReactNode
  readonly isNumber?: boolean
  /** Hidden until it is chosen. */
  readonly isExtra?: boolean
  /** Orders rows by this column; texts are compared otherwise. */
  readonly compare?: (one: RecordData, other: RecordData) => number
}
