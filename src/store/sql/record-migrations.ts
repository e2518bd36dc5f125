import { type RecordKind, resources } from '../../resources/catalogue.ts'
import { addColumn, createTables, type SchemaDialect } from './record-schema.ts'

/**
 * A change to the tables of records. A released step is never edited; what follows is a new step.
 */
export type RecordStep =
  | { readonly createKinds: readonly RecordKind[] }
  | { readonly addColumn: string; readonly kind: RecordKind }

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
]

/**
 * The SQL of a step, counted from 1. Tables come from the catalogue, without the columns that a
 * later step adds.
 */
export function recordMigration(
  number: number,
  dialect: SchemaDialect,
  steps: readonly RecordStep[] = recordSteps,
): string {
  const step = steps[number - 1]
  if (step === undefined) throw new RangeError(`There is no step ${number} of records.`)
  if ('addColumn' in step) {
    return resources
      .filter(({ kind }) => kind === step.kind)
      .map((resource) => addColumn(resource, step.addColumn, dialect))
      .join('')
  }
  const later = steps.slice(number).filter((one) => 'addColumn' in one)
  return resources
    .filter(({ kind }) => step.createKinds.includes(kind))
    .map((resource) => {
      const added = later.filter(({ kind }) => kind === resource.kind)
      return createTables(
        resource,
        added.map((one) => one.addColumn),
        dialect,
      )
    })
    .join('')
}
