import type { ReactNode } from 'react'
import type { IconName } from '../values/icon.tsx'

/** A record as the API answers it. */
export type RecordData = Readonly<Record<string, unknown>> & { readonly id: string }

/** A row of a list. A list over all customers says whose record it is, and what is short. */
export type Row = {
  readonly customerId: string
  readonly record: RecordData
  readonly shortfall: string | undefined
}

/** A kind of record on the screen: its list, the filters that this takes, and its columns. */
export type Kind = {
  /** As the API spells it. */
  readonly name: string
  readonly title: string
  readonly noun: string
  readonly plural: string
  readonly icon: IconName
  /** The second key after `G` that goes to its list. */
  readonly key: string
  /** The customer's list. */
  readonly path: string
  readonly scope: string
  readonly envelope: string
  readonly idFilter: string
  readonly orderBy: string
  readonly statuses: readonly string[]
  /** What a customer's list takes. */
  readonly filters: readonly Filter[]
  /** The identifiers that a customer's search tries. */
  readonly finders: readonly Finder[]
  readonly columns: readonly ColumnOf[]
  /** What a person calls a record: `First Sample Bank ···8846`. */
  readonly titleOf: (record: RecordData) => string
  /** The lines of a card, on a narrow screen: what identifies it, and what else matters. */
  readonly cardOf: (row: Row) => Card
  readonly hasDeleted?: boolean
  /** Whether lists hide account numbers that the full record has. */
  readonly isMasked?: boolean
}

type Card = {
  readonly figure?: string
  readonly sub: string
  readonly status?: string
  readonly line?: string
}

export type Filter = {
  /** As the query spells it. */
  readonly name: string
  readonly label: string
  readonly type: 'text' | 'instant' | 'flag'
  /** The values that a choice has. */
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
  /** The member of the API, for the tooltip. */
  readonly member: string
  /** What a file has in this column. */
  readonly text: (record: RecordData, row: Row) => string
  /** What the table shows, if it is not the text. */
  readonly cell?: (row: Row, decimals: number) => ReactNode
  /** The amounts in the cell, which are aligned by their points. */
  readonly amounts?: (row: Row) => readonly string[]
  readonly isNumber?: boolean
  /** Hidden until it is chosen. */
  readonly isExtra?: boolean
  /** Shown in a list of shortfalls alone. */
  readonly isOfShortfalls?: boolean
  /** The order of the server that this column shows. */
  readonly orderBy?: string
}
