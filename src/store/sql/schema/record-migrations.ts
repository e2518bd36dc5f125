import { fullTable, type Resource } from '../../../contract/resource.ts'
import { type RecordKind, resources } from '../../../resources/catalogue.ts'
import type { Dialect } from '../../dialect.ts'
import { addHistory } from './history-schema.ts'
import {
  addChecksum,
  addColumn,
  addHistoryChecksum,
  createTables,
  replaceInBodies,
} from './record-schema.ts'

/** A released step is never edited. A new column of a released kind needs an `addColumn` step. */
export type RecordStep =
  | { readonly createKinds: readonly RecordKind[] }
  | { readonly addColumn: string; readonly kind: RecordKind }
  | { readonly addChecksums: true }
  | { readonly addHistory: true }
  | { readonly replaceInBodies: readonly Replacement[]; readonly kinds: readonly RecordKind[] }

/**
 * Text of a stored body and its replacement. Bodies are JSON without blanks, and a quote in a JSON
 * string is escaped, so a text that starts with `"member":{` matches a member and no value. A step
 * cannot use the value of another member; that would need every record rendered again.
 */
export type Replacement = readonly [text: string, replacement: string]

export const recordSteps: readonly RecordStep[] = [
  {
    createKinds: [
      'fiat-accounts',
      'fiat-deposit-instructions',
      'deposit-addresses',
      'statements',
      'issuer-quote-executions',
    ],
  },
  // Strict clients refuse a null person.
  {
    replaceInBodies: [
      ['"fiat_account_owner":{"person_details":null}', '"fiat_account_owner":{}'],
      ['"fiat_account_owner":{"person_details":null,', '"fiat_account_owner":{'],
    ],
    kinds: ['fiat-accounts', 'fiat-deposit-instructions'],
  },
  { addChecksums: true },
  { addHistory: true },
]

/** The SQL of a step, counted from 1. It creates no column that a later step adds to its tables. */
export function recordMigration(
  number: number,
  dialect: Dialect,
  steps: readonly RecordStep[] = recordSteps,
): string {
  const step = steps[number - 1]
  if (step === undefined) throw new RangeError(`There is no step ${number} of records.`)
  const earlier = steps.slice(0, number - 1)
  if ('addChecksums' in step) {
    const filled = tablesAfter(earlier).map((table) => addChecksum(table, dialect))
    return [...filled, addHistoryChecksum(dialect)].join('')
  }
  const laterColumnsOf = (kind: string) =>
    steps
      .slice(number)
      .flatMap((later) => ('addColumn' in later && later.kind === kind ? [later.addColumn] : []))
  if ('addHistory' in step) {
    return addHistory(resourcesAfter(earlier), dialect, laterColumnsOf)
  }
  const hasHistory = earlier.some((other) => 'addHistory' in other)
  const hasChecksums = earlier.some((other) => 'addChecksums' in other)
  const sqlOf = (resource: (typeof resources)[number]): string => {
    if ('addColumn' in step) {
      return step.kind === resource.kind ? addColumn(resource, step.addColumn, dialect) : ''
    }
    if ('replaceInBodies' in step) {
      if (!step.kinds.includes(resource.kind)) return ''
      return replaceInBodies(resource, step.replaceInBodies, { ...dialect, hasChecksums })
    }
    if (!step.createKinds.includes(resource.kind)) return ''
    return createTables(resource, laterColumnsOf(resource.kind), {
      ...dialect,
      hasChecksums,
      hasHistory,
    })
  }
  return resources.map(sqlOf).join('')
}

/** A later kind must change no earlier step: a store refuses a step that differs from its own. */
function resourcesAfter(steps: readonly RecordStep[]) {
  const created = steps.flatMap((step) => ('createKinds' in step ? step.createKinds : []))
  return resources.filter(({ kind }) => created.includes(kind))
}

const tablesAfter = (steps: readonly RecordStep[]): readonly string[] =>
  resourcesAfter(steps).flatMap(tablesOf)

/** The tables of one kind: what lists show and, where that is masked, the full records. */
export const tablesOf = (resource: Resource): readonly string[] =>
  resource.mask === undefined ? [resource.table] : [resource.table, fullTable(resource)]

/** The tables that hold stored records of any kind. */
export const recordTables: readonly string[] = resources.flatMap(tablesOf)

/** The tables from which reads of every kind take something. */
export const sharedTables: readonly string[] = [
  'superseded',
  'former_value',
  'extent',
  'kept_since',
  'origin',
  'revision',
]

/** The tables of what records were, and the bounds by which it is found. They have customers. */
export const historyTables: readonly string[] = [
  'superseded',
  'former_value',
  'extent',
  'kept_since',
]
