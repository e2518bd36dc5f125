import type { Dialect, ParameterType } from './dialect.ts'
import type { Value } from './session.ts'

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
