import { hintFor, type Violation, validatorOf, violationsOf } from '@bursar/base'
import {
  type RecordFault,
  type RecordInput,
  type RecordRules,
  type Resource,
  refusalOf,
} from '@bursar/contract'
import type { TSchema } from 'typebox'
import { boundsFaults, isWithinBounds, joinMembers as join } from './record-bounds.ts'

/** Checks one value of a file. Returns all of its faults, or the record. */
export type RecordCheck = (value: unknown) =>
  | { readonly faults: readonly RecordFault[] }
  /** The record, and its text as JSON. */
  | { readonly record: RecordInput; readonly json: string }

export function recordCheck(resource: Resource, rules: RecordRules): RecordCheck {
  const validator = validatorOf(resource.record)
  const faultsOfForm = (record: RecordInput) =>
    violationsOf(resource.record, validator().Errors(record)[1]).map((each) =>
      faultOf(each, resource, record),
    )
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const reason = 'must be a JSON object'
      return { faults: [{ member: 'record', code: 'wrong_type', reason }] }
    }
    if (!isWithinBounds(value)) return { faults: boundsFaults(value) }
    const schema = validator()
    const isValid = schema.Check(value)
    // Only a record that is not valid yet can have a null to leave out.
    const record = (isValid ? value : withoutNulls(resource.record, value)) as RecordInput
    const faults = isValid || schema.Check(record) ? [] : faultsOfForm(record)
    // The resource's checks also run on invalid records; they ignore members of the wrong type.
    const json = JSON.stringify(record)
    const ofText = isPlain(json) ? [] : textFaults(record, '')
    const all = [...faults, ...ofText, ...resource.check(record, rules)]
    return all.length === 0 ? { record, json } : { faults: uniqueFaults(all) }
  }
}

type Members = {
  readonly type?: string | readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly nullIsFault?: true
}

const refusesOrTakesNull = ({ type, nullIsFault }: Members): boolean =>
  nullIsFault === true || [type].flat().includes('null')

/** Leaves out each member that is null, optional, and may not be null: it means an absent one. */
function withoutNulls(schema: TSchema, value: unknown): unknown {
  const { required = [], properties, items } = schema as Members
  if (Array.isArray(value) && items !== undefined) {
    return value.map((item) => withoutNulls(items, item))
  }
  if (typeof value !== 'object' || value === null || properties === undefined) return value
  const isAbsent = (member: string, child: unknown) =>
    child === null &&
    Object.hasOwn(properties, member) &&
    !required.includes(member) &&
    !refusesOrTakesNull(properties[member] as Members)
  const kept = Object.entries(value).filter(([member, child]) => !isAbsent(member, child))
  return Object.fromEntries(
    kept.map(([member, child]) => {
      const own = Object.hasOwn(properties, member) ? properties[member] : undefined
      return [member, own === undefined ? child : withoutNulls(own, child)]
    }),
  )
}

function faultOf(violation: Violation, { kind }: Resource, record: RecordInput): RecordFault {
  const { keyword, path, parts } = violation
  const member = path.reduce(join, '')
  const node = parts.at(-1)?.part ?? {}
  switch (keyword) {
    case 'required':
      return { member, code: 'missing', reason: 'must be given' }
    case 'unknown': {
      const name = path.at(-1) ?? ''
      // A pair of metadata is unknown where its key has the wrong length.
      const ofPair = `is a key of ${[...name].length} characters; ${path.slice(0, -1).reduce(join, '')} ${node.reason}`
      const ofRecord = `is no member of ${kind}${hintFor(violation, record) || '; take it out'}`
      const isPair = node.patternProperties !== undefined
      return { member, code: 'unknown_name', reason: isPair ? ofPair : ofRecord }
    }
    default:
      return { member, ...refusalOf(violation, record) }
  }
}

/**
 * Whether `textFaults` would certainly be empty, as for nearly every record. `JSON.stringify`
 * writes a NUL and half of a pair of surrogates as an escape with `\u`.
 */
const isPlain = (json: string): boolean => !json.includes('\\u')

/** PostgreSQL cannot store a NUL, and text that is not well-formed cannot be encoded as UTF-8. */
function textFaults(value: unknown, member: string): RecordFault[] {
  if (typeof value === 'string') {
    if (value.includes('\u0000')) return [{ member, code: 'nul', reason: 'must not contain a NUL' }]
    const reason = 'must be well-formed Unicode'
    return value.isWellFormed() ? [] : [{ member, code: 'not_utf8', reason }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => [
    ...textFaults(name, join(member, 'key')),
    ...textFaults(child, join(member, name)),
  ])
}

function uniqueFaults(faults: readonly RecordFault[]): RecordFault[] {
  const byText = Map.groupBy(faults, ({ member, reason }) => `${member}: ${reason}`)
  return [...byText.values()].flatMap(([first]) => first ?? [])
}
