import { baseLimits, hintFor, printable, type Violation, violationsOf } from '@bursar/base'
import type { TSchema } from 'typebox'
import { Errors } from 'typebox/schema'

/** Where the texts are looked up that `auth_env` names. */
export type Environment = Readonly<Record<string, string | undefined>>

type Path = readonly string[]

/** Adds a fault to a member, or to the part itself where `member` is empty. */
export type AddFault = (member: string, fault: string) => undefined

type ReadPart<T> = (part: unknown, addFault: AddFault, name: string) => T

/** A document whose faults of form are known, so that its other parts can be read. */
export type DocumentParts = {
  faults(): readonly string[]
  /** Reads a part without a fault of form. `to` may still add faults. Undefined for another. */
  readonly read: <T>(path: Path, to: ReadPart<T>) => T | undefined
  /** Reads the members or entries of a part, by their names, but for those with a fault of form. */
  readonly readEach: <T>(path: Path, to: ReadPart<T>) => ReadonlyMap<string, T>
}

export function documentParts(schema: TSchema, document: unknown): DocumentParts {
  const [, errors] = Errors(schema, withoutLongTexts(document))
  const found = violationsOf(schema, errors)
  // Past its limit, the library looks for no faults.
  const isComplete = errors.length < baseLimits.recordFaultsMax
  const isSound = (path: Path) =>
    isComplete && !found.some((violation) => isOneWithin(path, violation.path))
  // Unknown members come last, the inner ones first.
  const depthOf = ({ keyword, path }: Violation) =>
    keyword === 'unknown' ? path.length : Number.POSITIVE_INFINITY
  const faults = found
    .toSorted((a, b) => (depthOf(a) === depthOf(b) ? 0 : depthOf(b) - depthOf(a)))
    .map((violation) => `${shown(violation.path)} ${reasonOfForm(violation, document)}`)
  const all = new Set(faults)
  const read: DocumentParts['read'] = (path, to) => {
    const addFault: AddFault = (member, fault) => {
      all.add(`${shown(member === '' ? path : [...path, member])} ${fault}`)
      return undefined
    }
    return isSound(path) ? to(at(document, path), addFault, path.at(-1) ?? '') : undefined
  }
  return {
    faults: () => [...all],
    read,
    readEach: (path, to) => {
      const part = at(document, path)
      const names = typeof part === 'object' && part !== null ? Object.keys(part) : []
      return new Map(
        names.flatMap((name) => {
          const value = read([...path, name], to)
          return value === undefined ? [] : [[name, value] as const]
        }),
      )
    },
  }
}

function reasonOfForm(violation: Violation, document: unknown): string {
  return `${reasonWithoutHint(violation, document)}${hintFor(violation, document)}`
}

function reasonWithoutHint(
  { keyword, path, parts, message }: Violation,
  document: unknown,
): string {
  const { part, depth } = parts.at(-1) ?? { part: {}, depth: 0 }
  if (keyword === 'unknown') return part.unknown ?? 'is no setting of the fee schedule'
  if (keyword === 'required') return part.missing ?? 'is missing'
  const isOfMembers = part.type === 'object' || part.type === 'array'
  if (!isOfMembers && isLong(at(document, path))) {
    return `must have at most ${baseLimits.configurationTextLengthMax} characters`
  }
  // A variant of a union stands as deep as the union, which has the reason.
  const own = parts.findLast((each) => each.depth === depth && each.part.reason !== undefined)
  return own?.part.reason ?? message
}

const isLong = (value: unknown): boolean =>
  typeof value === 'string' && value.length > baseLimits.configurationTextLengthMax

/** Patterns take quadratic time on long text, and no part of a schema accepts a null. */
function withoutLongTexts(value: unknown): unknown {
  if (isLong(value)) return null
  if (Array.isArray(value)) return value.map(withoutLongTexts)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutLongTexts(member)]),
  )
}

const at = (document: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (part, name) => (part as Readonly<Record<string, unknown>> | undefined)?.[name],
    document,
  )

/** Whether one of two paths leads through the other's end. */
const isOneWithin = (path: Path, other: Path): boolean =>
  path.every((name, index) => index >= other.length || name === other[index])

/** The document chose the keys, so they are made printable. */
const shown = (path: Path): string => path.map((name) => printable(name)).join('.')

export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
