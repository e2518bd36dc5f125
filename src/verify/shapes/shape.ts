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

export type ShapeFault = { readonly kind: FaultKind; readonly says: string }

/** Finds the faults of a value at a position. The texts quote nothing that may be a secret. */
export type Shape = (value: unknown, at: string) => readonly ShapeFault[]

const fault = (kind: FaultKind, says: string): readonly ShapeFault[] => [{ kind, says }]

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`

/** Text that is not empty. */
export const text: Shape = (value, at) => {
  if (typeof value !== 'string') {
    return fault('members', `${at} must be a string, but is ${kindOf(value)}`)
  }
  return value === '' ? fault('members', `${at} must not be empty`) : []
}

/** Text that may be empty. */
export const anyText: Shape = (value, at) =>
  typeof value === 'string'
    ? []
    : fault('members', `${at} must be a string, but is ${kindOf(value)}`)

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

export const object =
  (required: Shapes, optional: Shapes = {}): Shape =>
  (value, at) => {
    if (!isItem(value)) return fault('members', `${at} must be an object, but is ${kindOf(value)}`)
    const missing = Object.keys(required)
      .filter((name) => !Object.hasOwn(value, name))
      .flatMap((name) => fault('members', `${at}.${name} is missing`))
    const inside = Object.entries(value).flatMap(([name, inner]) => {
      const shape = shapeOf(required, name) ?? shapeOf(optional, name)
      const place = `${at}.${name}`
      return shape?.(inner, place) ?? fault('unknown members', `${place} is not in the contract`)
    })
    return [...missing, ...inside]
  }

/** The target chose the name, which may be `constructor`. */
const shapeOf = (shapes: Shapes, name: string): Shape | undefined =>
  Object.hasOwn(shapes, name) ? shapes[name] : undefined

export const metadata =
  (pairsMax: number, lengthMax: number): Shape =>
  (value, at) => {
    if (!isItem(value)) return fault('metadata', `${at} must be an object, but is ${kindOf(value)}`)
    const pairs = Object.entries(value)
    const tooLong = pairs.some(
      ([key, inner]) =>
        typeof inner !== 'string' || key.length > lengthMax || inner.length > lengthMax,
    )
    return [
      ...(pairs.length > pairsMax
        ? fault('metadata', `${at} must have at most ${pairsMax} pairs, but has ${pairs.length}`)
        : []),
      ...(tooLong
        ? fault('metadata', `${at} must map to strings of at most ${lengthMax} characters`)
        : []),
    ]
  }
