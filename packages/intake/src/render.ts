import { parseInstant, printInstant } from '@bursar/base'
import type { RecordInput, Resource } from '@bursar/contract'
import { positionOf, printTerms, privateTerms, type StorableRecord } from '@bursar/records'
import type { TSchema } from 'typebox'

/**
 * Renders a checked record as the bytes of responses, full and masked, and its filter columns. The
 * order of members and the form of values are canonical, so equal records give equal bytes.
 */
export function renderRecord(
  resource: Resource,
  record: RecordInput,
  line: number,
): StorableRecord {
  const instants: Instants = new Map()
  const whole = canonical(resource.record, resource.complete(record), instants) as RecordInput
  const microsOf = (member: string): bigint | null => instants.get(whole[member]) ?? null
  const full: Record<string, unknown> = {}
  for (const member in whole) {
    if (!resource.withheldMembers.includes(member)) full[member] = whole[member]
  }
  const members: Record<string, string | null> = {}
  for (const member of ['ref_id', ...Object.values<string>(resource.columns)]) {
    // Its key stands for it.
    if (member === resource.exclusive?.member) continue
    const value = whole[member]
    members[member] = typeof value === 'string' ? value : null
  }
  if (resource.exclusive !== undefined) members.exclusive_key = resource.exclusive.key(whole)
  if (resource.statuses.length > 0) members.status = String(whole.status)
  const terms = resource.terms?.of(whole) ?? []
  if (resource.terms !== undefined) members.terms = printTerms(resource.terms, terms)
  const id = String(whole.id)
  return {
    line,
    customerId: String(whole.customer_id),
    id,
    position: positionOf(microsOf(resource.orderBy) ?? 0n, id),
    members,
    full: JSON.stringify(full),
    masked: resource.mask === undefined ? null : JSON.stringify(resource.mask(full)),
    deletedAt: whole.deleted_at === undefined ? undefined : microsOf('deleted_at'),
    updatedAt: microsOf('updated_at'),
    privateTerms: privateTerms(terms),
    sourceVersion: whole.source_version === undefined ? null : BigInt(String(whole.source_version)),
  }
}

/** The times of a record by their printed text, so that each is parsed once. */
type Instants = Map<unknown, bigint>

type SchemaNode = {
  readonly format?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
}

function canonical(schema: TSchema | undefined, value: unknown, instants: Instants): unknown {
  const { format, properties, items } = (schema ?? {}) as SchemaNode
  if (typeof value === 'string') return canonicalText(format, value, instants)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => canonical(items, item, instants))
  const given = value as RecordInput
  if (properties === undefined) return canonicalPairs(given, instants)
  const rendered: Record<string, unknown> = {}
  for (const name in properties) {
    const member = given[name]
    if (member !== undefined) rendered[name] = canonical(properties[name], member, instants)
  }
  return rendered
}

/** Renders metadata. Object.fromEntries keeps a key such as __proto__ as a member. */
const canonicalPairs = (given: RecordInput, instants: Instants): RecordInput =>
  Object.fromEntries(
    Object.keys(given)
      .toSorted()
      .map((name) => [name, canonical(undefined, given[name], instants)]),
  )

function canonicalText(format: string | undefined, text: string, instants: Instants): string {
  if (format === 'uuid') return text.toLowerCase()
  const micros = format === 'date-time' ? parseInstant(text)?.micros : undefined
  if (micros === undefined) return text
  const printed = printInstant(micros)
  instants.set(printed, micros)
  return printed
}
