import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { RecordFault, RecordInput, RecordRules, Resource } from '../contract/resource.ts'

/** Checks one value of a file. Returns all of its faults, or the record. */
export type RecordCheck = (
  value: unknown,
) => { readonly faults: readonly RecordFault[] } | { readonly record: RecordInput }

export function recordCheck(resource: Resource, rules: RecordRules): RecordCheck {
  const schema = Compile(resource.record)
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { faults: [{ member: 'record', reason: 'must be a JSON object' }] }
    }
    const record = value as RecordInput
    const faults = schema.Check(value)
      ? []
      : uniqueFaults(schema.Errors(value).flatMap((error) => faultsOf(error, resource)))
    // The resource's checks also run on invalid records; they ignore members of the wrong type.
    const ofText = isPlain(record, 0) ? [] : textFaults(record, '')
    const all = [...faults, ...ofText, ...resource.check(record, rules)]
    return all.length === 0 ? { record } : { faults: uniqueFaults(all) }
  }
}

type SchemaError = {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
}

function faultsOf(error: SchemaError, resource: Resource): RecordFault[] {
  const member = dotted(error.instancePath)
  const params = error.params as {
    requiredProperties?: readonly string[]
    additionalProperties?: readonly string[]
  }
  switch (error.keyword) {
    case 'required':
      return (params.requiredProperties ?? []).map((name) => ({
        member: join(member, name),
        reason: 'must be given',
      }))
    case 'additionalProperties':
      return (params.additionalProperties ?? []).map((name) => ({
        member: join(member, name),
        reason: `is no member of ${resource.kind}; take it out`,
      }))
    // TypeBox reports an unknown member twice: here, and as additionalProperties above.
    case 'boolean':
      return []
    default:
      return [{ member, reason: reasonAt(resource.record, error.schemaPath) }]
  }
}

function reasonAt(schema: TSchema, pointer: string): string {
  let node: unknown = schema
  let reason = 'is not of its form'
  for (const part of ['', ...pointer.split('/').slice(1)]) {
    if (part !== '')
      node = (node as Readonly<Record<string, unknown>> | undefined)?.[unescapePointer(part)]
    const found = (node as { reason?: unknown } | undefined)?.reason
    if (typeof found === 'string') reason = found
  }
  return reason
}

/** RFC 6901 section 4. */
const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

const dotted = (pointer: string): string =>
  pointer.split('/').slice(1).map(unescapePointer).join('.')

const join = (parent: string, member: string): string =>
  parent === '' ? member : `${parent}.${member}`

/** Whether `textFaults` would be empty. Allocates nothing, because nearly every record is plain. */
function isPlain(value: unknown, depth: number): boolean {
  if (depth > DEPTH_MAX) return false
  if (typeof value === 'string') return !value.includes('\u0000') && value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  for (const name in value) {
    if (!isPlain(name, depth) || !isPlain((value as RecordInput)[name], depth + 1)) return false
  }
  return true
}

/** Deeper than any legal record; a hostile one would overflow the stack. */
const DEPTH_MAX = 10

/** PostgreSQL cannot store a NUL, and text that is not well-formed cannot be encoded as UTF-8. */
function textFaults(value: unknown, member: string, depth = 0): RecordFault[] {
  if (depth > DEPTH_MAX) return [{ member, reason: 'is nested too deeply' }]
  if (typeof value === 'string') {
    if (value.includes('\u0000')) return [{ member, reason: 'must not contain a NUL' }]
    return value.isWellFormed() ? [] : [{ member, reason: 'must be well-formed Unicode' }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => [
    ...textFaults(name, join(member, 'key')),
    ...textFaults(child, join(member, name), depth + 1),
  ])
}

function uniqueFaults(faults: readonly RecordFault[]): RecordFault[] {
  const told = new Map(faults.map((fault) => [`${fault.member}: ${fault.reason}`, fault]))
  return [...told.values()]
}
