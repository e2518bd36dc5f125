import { type Instant, intersection, rangeOfBound, type TimeRange } from '@bursar/base'
import {
  type ArrayField,
  type BodyInput,
  contractLimits,
  invalidParameters,
  type ListOperation,
  type Operation,
  type ParameterFault,
  type ParameterValue,
  type Problem,
  type Refusal,
  type Request,
} from '@bursar/contract'
import type { Selection } from '@bursar/records'
import { decodeValue, parseQuery, type RawQuery } from './parse-query.ts'
import { readBody } from './read-body.ts'

export type Input = {
  /** The parameters of the path and of the query that were set. */
  readonly parameters: ReadonlyMap<string, ParameterValue>
  readonly body: BodyInput
  /** What the parameters of a list select, where the operation takes them. */
  readonly list: ListInput | undefined
}

/** Reads path, query and body as declared. Throws a 400 that names every fault. */
export function validate(
  operation: Operation,
  list: ListOperation | undefined,
  request: Pick<Request, 'rawQuery' | 'parameters' | 'body' | 'trace'>,
): Input {
  const query = readQuery(operation, request)
  const { values, faults } = readParameters(operation.query, query, operation.required)
  const path = readPath(operation, request, faults)
  if (faults.length > 0) throw invalidParameters(faults)
  const selected = list === undefined ? undefined : listInput(list, values)
  for (const [parameter, value] of path) values.set(parameter, value)
  const { body } = operation
  const isObject = body !== undefined && 'members' in body
  return {
    parameters: values,
    list: selected,
    body: isObject ? readBody(body, request.body) : noMembers,
  }
}

/** The parameters in the path, which the router has decoded. Their faults come first. */
function readPath(
  { parameters }: Operation,
  request: Pick<Request, 'parameters'>,
  faults: ParameterFault[],
): readonly (readonly [string, string])[] {
  return Object.entries(parameters).flatMap(([parameter, field]) => {
    const reading = field.read(request.parameters[parameter] ?? '')
    if ('value' in reading) return [[parameter, reading.value] as const]
    faults.unshift({ parameter, ...reading })
    return []
  })
}

const noMembers: BodyInput = new Map()

/** The values of the declared parameters. The answer names the others, unless they are refused. */
function readQuery(
  operation: Operation,
  { rawQuery, trace }: Pick<Request, 'rawQuery' | 'trace'>,
): RawQuery {
  const { values, ignored } = parseQuery(rawQuery, operation.query)
  if (ignored.length === 0) return values
  if (operation.closed === true) throw unknownParameters(operation, ignored)
  trace.ignoredParameters = ignored
  return values
}

function unknownParameters({ query }: Operation, names: readonly string[]): Problem {
  const known = Object.keys(query)
  const reason = `is unknown here; the parameters are: ${known.length === 0 ? 'none' : known.join(', ')}`
  return invalidParameters(names.map((parameter) => ({ parameter, code: 'unknown_name', reason })))
}

/** A list's typed input. `filters` is their canonical form, to which a cursor is bound. */
export type ListInput = {
  readonly selection: Omit<Selection, 'after'>
  /** The customers that the query names; the page is empty where one is not the caller's own. */
  readonly namedTenants: readonly string[]
  readonly envelope: string
  readonly filters: string
}

/** What the values of a list's parameters select. */
function listInput(
  { filter: filters, envelope }: ListOperation,
  values: Input['parameters'],
): ListInput {
  const ranges: TimeRange[] = []
  const anyOf: { column: string; values: readonly string[] }[] = []
  const namedTenants: string[] = []
  let includeDeleted = false
  for (const [parameter, filter] of Object.entries(filters)) {
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
  const limit = Number(values.get('limit') ?? contractLimits.pageSizeDefault)
  const bounds = [String(range.from), String(range.before)]
  return {
    selection: { anyOf, ...range, includeDeleted, order: direction, limit },
    namedTenants,
    envelope,
    filters: JSON.stringify([anyOf, ...bounds, includeDeleted, namedTenants]),
  }
}

type AnyField = Operation['query'][string]

function readParameters(
  fields: Readonly<Record<string, AnyField>>,
  query: RawQuery,
  required: readonly string[],
): { values: Map<string, ParameterValue>; faults: ParameterFault[] } {
  const values = new Map<string, ParameterValue>()
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

type ValueReading = { readonly value: ParameterValue } | Refusal

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
