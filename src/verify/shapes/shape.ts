import { isItem } from '../json.ts'

/** Which statement a fault of a record belongs to. */
export type FaultKind =
  | 'members'
  | 'enums'
  | 'timestamps'
  | 'amounts'
  | 'identifiers'
  | 'metadata'
  | 'unknown members'

export type ShapeFault = {
  readonly kind: FaultKind
  readonly says: string
  /** The contract leaves open what Bursar has settled. */
  readonly isExtra?: true
}

/** Finds the faults of a value at a position. The texts quote nothing that may be a secret. */
export type Shape = (value: unknown, at: string) => readonly ShapeFault[]

const fault = (kind: FaultKind, says: string): readonly ShapeFault[] => [{ kind, says }]

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`

/** Text that may be empty. */
export const anyText: Shape = (value, at) =>
  typeof value === 'string'
    ? []
    : fault('members', `${at} must be a string, but is ${kindOf(value)}`)

/** What Bursar has settled beyond the contract. */
const extra =
  (shape: Shape): Shape =>
  (value, at) =>
    shape(value, at).map((one) => ({ ...one, isExtra: true }))

/** What the contract states, and what Bursar has settled for values that keep it. */
export const refined =
  (stated: Shape, settled: Shape): Shape =>
  (value, at) => {
    const faults = stated(value, at)
    return faults.length > 0 ? faults : extra(settled)(value, at)
  }

/** Text; the contract does not say that it is not empty. */
export const text: Shape = refined(anyText, (value, at) =>
  value === '' ? fault('members', `${at} must not be empty`) : [],
)

/** Text that a test accepts. Values of another type are faults of the same kind. */
export const textThat =
  (kind: FaultKind, accepts: (value: string) => boolean, meaning: string): Shape =>
  (value, at) =>
    typeof value === 'string' && accepts(value)
      ? []
      : fault(kind, `${at} must be ${meaning}, but is ${shown(value)}`)

/** A short value of a closed vocabulary; anything longer is described only. */
const shown = (value: unknown): string =>
  typeof value === 'string' && value.length <= 40 ? `'${value}'` : kindOf(value)

export const oneOf = (...members: readonly string[]): Shape =>
  textThat('enums', (value) => members.includes(value), members.join(' or '))

export const nullable =
  (shape: Shape): Shape =>
  (value, at) =>
    value === null ? [] : shape(value, at)

export const arrayOf =
  (each: Shape): Shape =>
  (value, at) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => each(item, `${at}[${index}]`))
      : fault('members', `${at} must be an array, but is ${kindOf(value)}`)

export type Shapes = Readonly<Record<string, Shape>>

export type Members = {
  /** The contract requires them. */
  readonly required?: Shapes
  /** Bursar always answers them; the contract does not say so. */
  readonly expected?: Shapes
  readonly optional?: Shapes
}

export const object =
  ({ required = {}, expected = {}, optional = {} }: Members): Shape =>
  (value, at) => {
    if (!isItem(value)) return fault('members', `${at} must be an object, but is ${kindOf(value)}`)
    const absent = (shapes: Shapes): Shape => {
      const names = Object.keys(shapes).filter((name) => !Object.hasOwn(value, name))
      return () => names.flatMap((name) => fault('members', `${at}.${name} is missing`))
    }
    const inside = Object.entries(value).flatMap(([name, inner]) => {
      // The target chose the name, which may be `constructor`.
      const shape = [required, expected, optional].find((shapes) => Object.hasOwn(shapes, name))
      const place = `${at}.${name}`
      const unknown = fault('unknown members', `${place} is not in the contract`)
      return shape?.[name]?.(inner, place) ?? unknown
    })
    return [...absent(required)(value, at), ...extra(absent(expected))(value, at), ...inside]
  }

/** An object of any members. */
export const anyObject: Shape = (value, at) =>
  isItem(value) ? [] : fault('metadata', `${at} must be an object, but is ${kindOf(value)}`)

/** An object of texts, as many and as long as the limits say. */
export const metadata =
  (pairsMax = Number.POSITIVE_INFINITY, lengthMax = Number.POSITIVE_INFINITY): Shape =>
  (value, at) => {
    if (!isItem(value)) return anyObject(value, at)
    const pairs = Object.entries(value)
    const tooLong = pairs.some(
      ([key, inner]) =>
        typeof inner !== 'string' || key.length > lengthMax || inner.length > lengthMax,
    )
    const length = Number.isFinite(lengthMax) ? ` of at most ${lengthMax} characters` : ''
    return [
      ...(pairs.length > pairsMax
        ? fault('metadata', `${at} must have at most ${pairsMax} pairs, but has ${pairs.length}`)
        : []),
      ...(tooLong ? fault('metadata', `${at} must map to strings${length}`) : []),
    ]
  }
