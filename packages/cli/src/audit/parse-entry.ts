import { isPrintable } from '@bursar/base'
import { type AuditEntry, auditActions } from '@bursar/contract'
import type { ReadLine } from '@bursar/records'

/**
 * The entry of a stored line. Undefined if the program has not written such a line: then no member
 * can be shown or compared, since each may be of any form.
 */
export function parseEntry({ body, at, isLegible }: ReadLine): AuditEntry | undefined {
  if (!isLegible || !isPrintable(at)) return undefined
  try {
    const entry: unknown = JSON.parse(body)
    return isEntry(entry) ? entry : undefined
  } catch {
    return undefined
  }
}

type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === 'string'
const isNumber: Test = (value) => typeof value === 'number'
const isListOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test)
const isMapOf =
  (test: Test): Test =>
  (value) =>
    isObject(value) && Object.values(value).every(test)

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether an object has no other members than these, each of which passes its test. */
const isObjectWith =
  (tests: Readonly<Record<string, Test>>): Test =>
  (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([name, member]) => Object.hasOwn(tests, name) && tests[name]?.(member),
    )

const hasMembers = (value: unknown, ...names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => Object.hasOwn(value, name))

const namesOfActor: Readonly<Record<string, readonly string[]>> = {
  os_user: ['name'],
  client: ['id'],
  person: ['subject', 'issuer'],
}

const isActor: Test = (value) =>
  isMapOf(isText)(value) &&
  hasMembers(value, 'type', ...(namesOfActor[(value as { readonly type: string }).type] ?? []))

const members = {
  action: (value) => auditActions.some((action) => action === value),
  actor: isActor,
  outcome: isText,
  operation: isText,
  kind: isText,
  customer: isText,
  view: isText,
  reason: isText,
  ids: isListOf(isText),
  customers: isListOf(isText),
  count: isNumber,
  rows: isNumber,
  from: isText,
  until: isText,
  counts: isMapOf(isNumber),
  command: (value) =>
    hasMembers(value, 'name', 'arguments', 'options') &&
    isObjectWith({ name: isText, arguments: isListOf(isText), options: isMapOf(isText) })(value),
  steps: isListOf(isMapOf(isText)),
  writer: isObjectWith({
    version: isText,
    host: isText,
    process_id: isNumber,
    // Chains of earlier versions name the one before.
    continues: isMapOf(isText),
  }),
} satisfies Record<keyof AuditEntry, Test>

function isEntry(value: unknown): value is AuditEntry {
  return hasMembers(value, 'action', 'actor', 'outcome') && isObjectWith(members)(value)
}
