import { parseInstant, printInstant } from '@bursar/base'
import { isItem } from './json.ts'

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

/** A shape as contract.json writes it. */
export type ShapeNode =
  /** The name of a shape; `Address or null` may be null, `CryptoNetwork[]` is an array. */
  | string
  /** What the contract states, and what Bursar has settled for values that keep it. */
  | { readonly stated: ShapeNode; readonly settled: ShapeNode }
  | { readonly enum: readonly string[] }
  | { readonly identifier: string; readonly is: string }
  | { readonly amount: string; readonly is: string }
  /** An object of texts, as many and as long. */
  | { readonly pairsMax: number; readonly lengthMax: number }
  | ObjectNode

export type ObjectNode = {
  /** The name of an object whose members it has too. */
  readonly extends?: string
  /** The contract requires them. */
  readonly required?: Nodes
  /** Bursar always answers them; the contract does not say so. */
  readonly expected?: Nodes
  readonly optional?: Nodes
  /** The contract shows them in other answers; where one is present, it has this shape. */
  readonly tolerated?: Nodes
}

type Nodes = Readonly<Record<string, ShapeNode>>

type Objects = Readonly<Record<string, ObjectNode>>

/** Reads the shapes of contract.json, by their names. */
export function openShapes(values: Nodes, objects: Objects): (node: ShapeNode) => Shape {
  const shapeOf = (node: ShapeNode): Shape => {
    if (typeof node === 'string') return namedShape(node)
    if ('stated' in node) return refined(shapeOf(node.stated), shapeOf(node.settled))
    if ('enum' in node) {
      return textThat('enums', (value) => node.enum.includes(value), node.enum.join(' or '))
    }
    if ('identifier' in node) return textLike('identifiers', node.identifier, node.is)
    if ('amount' in node) return textLike('amounts', node.amount, node.is)
    if ('pairsMax' in node) return textsOf(node.pairsMax, node.lengthMax)
    const { required, expected, optional, tolerated } = membersOf(node, objects)
    const others = shapesOf({ ...optional, ...tolerated })
    return object(shapesOf(required), shapesOf(expected), others)
  }
  const namedShape = (name: string): Shape => {
    if (name.endsWith('[]')) return arrayOf(namedShape(name.slice(0, -'[]'.length)))
    if (name.endsWith(OR_NULL)) return nullable(namedShape(name.slice(0, -OR_NULL.length)))
    return builtIn.get(name) ?? shapeOf(named({ ...values, ...objects }, name))
  }
  const shapesOf = (nodes: Nodes): Shapes =>
    Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, shapeOf(node)]))
  return shapeOf
}

/** The members of an object, with those of the object that it extends. */
export function membersOf(node: ObjectNode, objects: Objects) {
  const base: ObjectNode =
    node.extends === undefined ? {} : membersOf(named(objects, node.extends), objects)
  return {
    required: { ...base.required, ...node.required },
    expected: { ...base.expected, ...node.expected },
    optional: { ...base.optional, ...node.optional },
    tolerated: { ...base.tolerated, ...node.tolerated },
  }
}

/** What a document has under a name that it uses. */
export function named<T>(of: Readonly<Record<string, T>>, name: string): T {
  const value = of[name]
  if (value === undefined) throw new Error(`${name} is named, and does not exist`)
  return value
}

const OR_NULL = ' or null'

type Shapes = Readonly<Record<string, Shape>>

const fault = (kind: FaultKind, says: string): readonly ShapeFault[] => [{ kind, says }]

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`

/** Text that may be empty. */
const anyText: Shape = (value, at) =>
  typeof value === 'string'
    ? []
    : fault('members', `${at} must be a string, but is ${kindOf(value)}`)

const extra =
  (shape: Shape): Shape =>
  (value, at) =>
    shape(value, at).map((one) => ({ ...one, isExtra: true }))

const refined =
  (stated: Shape, settled: Shape): Shape =>
  (value, at) => {
    const faults = stated(value, at)
    return faults.length > 0 ? faults : extra(settled)(value, at)
  }

/** Text that a test accepts. Values of another type are faults of the same kind. */
const textThat =
  (kind: FaultKind, accepts: (value: string) => boolean, meaning: string): Shape =>
  (value, at) =>
    typeof value === 'string' && accepts(value)
      ? []
      : fault(kind, `${at} must be ${meaning}, but is ${shown(value)}`)

function textLike(kind: FaultKind, pattern: string, meaning: string): Shape {
  const form = new RegExp(pattern)
  return textThat(kind, (value) => form.test(value), meaning)
}

/** A short value of a closed vocabulary; anything longer is described only. */
const shown = (value: unknown): string =>
  typeof value === 'string' && value.length <= 40 ? `'${value}'` : kindOf(value)

const nullable =
  (shape: Shape): Shape =>
  (value, at) =>
    value === null ? [] : shape(value, at)

const arrayOf =
  (each: Shape): Shape =>
  (value, at) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => each(item, `${at}[${index}]`))
      : fault('members', `${at} must be an array, but is ${kindOf(value)}`)

const object =
  (required: Shapes, expected: Shapes, optional: Shapes): Shape =>
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
const anyObject: Shape = (value, at) =>
  isItem(value) ? [] : fault('metadata', `${at} must be an object, but is ${kindOf(value)}`)

/** An object of texts, as many and as long as the limits say. */
const textsOf =
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

const dateTime = refined(
  textThat('timestamps', (value) => parseInstant(value) !== undefined, 'an RFC 3339 date-time'),
  textThat(
    'timestamps',
    (value) => {
      const instant = parseInstant(value)
      return instant !== undefined && printInstant(instant.micros) === value
    },
    'a date-time in UTC with Z and the fewest of 0, 3 or 6 fraction digits',
  ),
)

/** Shapes that contract.json names and no document can state. */
const builtIn = new Map<string, Shape>([
  ['any text', anyText],
  // The contract does not say that text is not empty.
  [
    'text',
    refined(anyText, (value, at) =>
      value === '' ? fault('members', `${at} must not be empty`) : [],
    ),
  ],
  ['date-time', dateTime],
  ['any object', anyObject],
  ['object of texts', textsOf()],
])
