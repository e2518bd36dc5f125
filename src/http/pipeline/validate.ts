import { type ArrayField, type Field, type Refusal, uuid } from '../../contract/fields.ts'
import type {
  BoundOperator,
  GetOperation,
  ListOperation,
  WriteOperation,
} from '../../contract/operation.ts'
import { echo, invalidParameters, type ParameterFault } from '../../contract/problem.ts'
import { limits } from '../../platform/limits.ts'
import type { Selection } from '../../store/records/page.ts'
import { largest, smallest } from '../../values/bounds.ts'
import type { Instant } from '../../values/instant.ts'
import { decodeValue, type RawQuery } from './parse-query.ts'

export type GetInput = { readonly id: string; readonly includeDeleted: boolean }

/** The path id and the query of a get. Throws a 400 that names every fault. */
export function validateGet(operation: GetOperation, id: string, query: RawQuery): GetInput {
  const reading = readId(operation, id)
  const { values, faults } = readParameters(operation.query, query)
  if ('reason' in reading) faults.unshift({ parameter: 'id', ...reading })
  if ('reason' in reading || faults.length > 0) throw invalidParameters(faults)
  const flags = Object.entries(operation.filter)
  const includeDeleted = flags.some(
    ([parameter, { kind }]) => kind === 'includesDeleted' && values.get(parameter) === true,
  )
  return { id: reading.value, includeDeleted }
}

/** An empty id is most often the slash that some clients put behind the path of a list. */
function readId(
  { path, malformedId }: GetOperation,
  id: string,
): { readonly value: string } | (Refusal & { readonly sentence: string }) {
  if (id === '') {
    const list = path.replace('/:id', '')
    const reason = `must be set: the path ends in a slash, and the list is ${list}`
    return { code: 'missing', reason, sentence: `id ${reason}` }
  }
  const reading = uuid.read(id)
  return 'value' in reading ? reading : { ...reading, sentence: malformedId(echo(id)) }
}

/** The path id of a write, or '' where its path has none. Throws a 400 for no UUID. */
export function validatePathId(
  { path }: Pick<WriteOperation, 'path'>,
  given: string | undefined,
): string {
  if (!path.includes('/:id')) return ''
  const reading = uuid.read(given ?? '')
  if ('value' in reading) return reading.value
  throw invalidParameters([{ parameter: 'id', ...reading }])
}

type Parameters = {
  readonly parameters: Readonly<Record<string, Field<string>>>
  readonly query: Readonly<Record<string, Exclude<AnyField, ArrayField<string>>>>
  readonly required: readonly string[]
}

/**
 * The parameters of a call of the operator or of the sandbox, in its path and in its query. The
 * router has decoded those of the path. Throws a 400 that names every fault.
 */
export function validateControl(
  operation: Parameters,
  path: Readonly<Record<string, string>>,
  query: RawQuery,
): ReadonlyMap<string, string | number | boolean | Instant> {
  const { values, faults } = readParameters(operation.query, query, operation.required)
  const given = new Map<string, string | number | boolean | Instant>()
  // No field of these calls reads an array.
  for (const [name, value] of values) given.set(name, value as Exclude<Value, readonly string[]>)
  for (const [parameter, field] of Object.entries(operation.parameters)) {
    const reading = field.read(path[parameter] ?? '')
    if ('value' in reading) given.set(parameter, reading.value)
    else faults.unshift({ parameter, ...reading })
  }
  if (faults.length > 0) throw invalidParameters(faults)
  return given
}

/** A list's typed input. `filters` is their canonical form, to which a cursor is bound. */
export type ListInput = {
  readonly selection: Omit<Selection, 'after'>
  /** The customers that the query names; the page is empty where one is not the caller's own. */
  readonly namedTenants: readonly string[]
  readonly cursor: string | undefined
  readonly filters: string
}

export function validateList(operation: ListOperation, query: RawQuery): ListInput {
  const { values, faults } = readParameters(operation.query, query, operation.required)
  if (faults.length > 0) throw invalidParameters(faults)
  return listInput(operation, values)
}

type Value = string | number | boolean | Instant | readonly string[]

function listInput(operation: ListOperation, values: ReadonlyMap<string, Value>): ListInput {
  const ranges: TimeRange[] = []
  const anyOf: { column: string; values: readonly string[] }[] = []
  const namedTenants: string[] = []
  let includeDeleted = false
  for (const [parameter, filter] of Object.entries(operation.filter)) {
    const value = values.get(parameter)
    if (value === undefined) continue
    switch (filter.kind) {
      case 'anyOf':
        anyOf.push({ column: filter.column, values: [value].flat() as string[] })
        break
      case 'bound':
        ranges.push(rangeOfBound(filter.operator, value as Instant))
        break
      case 'includesDeleted':
        includeDeleted = value === true
        break
      case 'namesTenant':
        namedTenants.push(String(value))
        break
    }
  }
  const range = intersection(ranges)
  const direction = values.get('order') === 'ASC' ? 'ASC' : 'DESC'
  const limit = Number(values.get('limit') ?? limits.pageSizeDefault)
  const cursor = values.get('page_cursor')
  const bounds = [String(range.from), String(range.before)]
  return {
    selection: { anyOf, ...range, includeDeleted, order: direction, limit },
    namedTenants,
    cursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
    filters: JSON.stringify([anyOf, ...bounds, includeDeleted, namedTenants]),
  }
}

type TimeRange = { readonly from: bigint | undefined; readonly before: bigint | undefined }

/**
 * A bound as the exact half-open range from ≤ at < before. Stored times are whole microseconds, so
 * a finer bound lies between two of them.
 */
function rangeOfBound(operator: BoundOperator, { micros, finer }: Instant): TimeRange {
  const next = micros + 1n
  const atOrAfter = finer ? next : micros
  switch (operator) {
    case 'lt':
      return { from: undefined, before: atOrAfter }
    case 'lte':
      return { from: undefined, before: next }
    case 'gte':
      return { from: atOrAfter, before: undefined }
    case 'gt':
      return { from: next, before: undefined }
    case 'eq':
      // Nothing stored equals a time finer than a microsecond.
      return { from: micros, before: finer ? micros : next }
  }
}

function intersection(ranges: readonly TimeRange[]): TimeRange {
  const [from, ...laterFroms] = ranges.flatMap((range) => range.from ?? [])
  const [before, ...laterBefores] = ranges.flatMap((range) => range.before ?? [])
  return {
    from: from === undefined ? undefined : largest(from, ...laterFroms),
    before: before === undefined ? undefined : smallest(before, ...laterBefores),
  }
}

type AnyField = Field<string> | Field<number> | Field<boolean> | Field<Instant> | ArrayField<string>

function readParameters(
  fields: Readonly<Record<string, AnyField>>,
  query: RawQuery,
  required: readonly string[] = [],
): { values: Map<string, Value>; faults: ParameterFault[] } {
  const values = new Map<string, Value>()
  const faults: ParameterFault[] = []
  for (const [parameter, field] of Object.entries(fields)) {
    const raw = query.get(parameter)
    if (raw === undefined) continue
    const reading = 'each' in field ? readEach(parameter, field, raw) : readOnce(field, raw)
    if ('reason' in reading) faults.push({ parameter, ...reading })
    else values.set(parameter, reading.value)
  }
  for (const parameter of required) {
    if (!query.has(parameter)) faults.push({ parameter, code: 'missing', reason: 'must be set' })
  }
  return { values, faults }
}

type ValueReading = { readonly value: Value } | (Refusal & { readonly sentence?: string })

const notDecodable: Refusal = { code: 'not_utf8', reason: 'must be percent-encoded UTF-8' }

function readOnce(
  field: Exclude<AnyField, ArrayField<string>>,
  raw: readonly string[],
): ValueReading {
  if (raw.length > 1) return { code: 'repeated', reason: 'must be given once' }
  const value = decodeValue(raw[0] ?? '')
  return value === undefined ? notDecodable : field.read(value)
}

/** Removes duplicates and sorts: the same set of entries gives the same filter and cursor. */
function readEach(
  parameter: string,
  { each, entriesMax }: ArrayField<string>,
  raw: readonly string[],
): ValueReading {
  if (raw.length > entriesMax) {
    const reason = `must have at most ${entriesMax} entries, given ${raw.length}`
    return { code: 'too_many', reason }
  }
  const entries = new Set<string>()
  for (const entry of raw) {
    const text = decodeValue(entry)
    const reading = text === undefined ? notDecodable : each.read(text)
    if ('reason' in reading) return withCommaHint(parameter, reading, text)
    entries.add(reading.value)
  }
  return { value: [...entries].toSorted() }
}

/** Some clients join values by commas. An identifier may contain one, so it is no separator. */
function withCommaHint(
  parameter: string,
  refusal: Refusal,
  text: string | undefined,
): ValueReading {
  if (text?.includes(',') !== true) return refusal
  const { code, reason } = refusal
  const sentence = `${parameter} ${reason}; commas do not separate values, so repeat ${parameter}=`
  return {
    code,
    reason: `${reason}; repeat the key, since commas do not separate values`,
    sentence,
  }
}
