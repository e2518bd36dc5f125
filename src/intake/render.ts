import type { TSchema } from 'typebox'
import type { RecordInput, Resource } from '../contract/resource.ts'
import { parseInstant, printInstant } from '../platform/instant.ts'
import { positionOf } from '../store/keyset.ts'
import type { StorableRecord } from '../store/store.ts'

/**
 * Turns a checked record into what is stored: the bytes that will be answered, in full and masked, and the columns that
 * lists filter on. Members stand in the contract's order, timestamps in UTC with the fewest fraction digits, UUIDs in
 * lower case, metadata by key; so the same record always gives the same bytes.
 */
export function renderRecord(
  resource: Resource,
  record: RecordInput,
  line: number,
): StorableRecord {
  const whole = canonical(resource.record, resource.complete(record)) as RecordInput
  const full = Object.fromEntries(
    Object.entries(whole).filter(([member]) => !resource.withheldMembers.includes(member)),
  )
  const id = String(whole.id)
  return {
    line,
    customerId: String(whole.customer_id),
    id,
    position: positionOf(micros(whole[resource.orderBy]) ?? 0n, id),
    members: {
      ...Object.fromEntries(
        ['ref_id', ...Object.values<string>(resource.columns)].map((member) => [
          member,
          typeof whole[member] === 'string' ? whole[member] : null,
        ]),
      ),
      ...(resource.exclusive !== undefined && { exclusive_key: resource.exclusive.key(whole) }),
    },
    full: JSON.stringify(full),
    masked: resource.mask === undefined ? null : JSON.stringify(resource.mask(full)),
    deletedAt: whole.deleted_at === undefined ? undefined : micros(whole.deleted_at),
    updatedAt: micros(whole.updated_at),
    sourceVersion: whole.source_version === undefined ? null : BigInt(String(whole.source_version)),
  }
}

function micros(value: unknown): bigint | null {
  return typeof value === 'string' ? (parseInstant(value)?.micros ?? null) : null
}

type SchemaNode = {
  readonly format?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
}

function canonical(schema: TSchema | undefined, value: unknown): unknown {
  const { format, properties, items } = (schema ?? {}) as SchemaNode
  if (typeof value === 'string') return canonicalText(format, value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => canonical(items, item))
  const given = value as RecordInput
  if (properties === undefined) return canonicalPairs(given)
  const rendered: Record<string, unknown> = {}
  for (const name in properties) {
    const member = given[name]
    if (member !== undefined) rendered[name] = canonical(properties[name], member)
  }
  return rendered
}

/** Keys that are the customer's own; fromEntries defines them one by one, so that one such as __proto__ stays a member. */
const canonicalPairs = (given: RecordInput): RecordInput =>
  Object.fromEntries(
    Object.keys(given)
      .toSorted()
      .map((name) => [name, canonical(undefined, given[name])]),
  )

function canonicalText(format: string | undefined, text: string): string {
  if (format === 'uuid') return text.toLowerCase()
  if (format !== 'date-time') return text
  const instant = parseInstant(text)
  return instant === undefined ? text : printInstant(instant.micros)
}
