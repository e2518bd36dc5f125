import { type Static, type TSchema, Type } from 'typebox'
import { Errors } from 'typebox/schema'
import { limits } from '../../platform/limits.ts'
import { printable } from '../../values/printable.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What one pass over a document shares. `auth_env` names are looked up in `environment`. */
export type Pass = { readonly environment: Environment; readonly faults: string[] }

type Read<T> = { readonly value: T } | undefined
/** Checks and converts one value. Each fault is added with its path, as in `as_of is missing`. */
export type Reader<T> = (given: unknown, path: string, pass: Pass) => Read<T>

/** A member whose key in the document differs from its name in the value, or that has none. */
type Field<T> = { readonly key?: string; readonly read: Reader<T> }
export const from = <T>(key: string, read: Reader<T>): Field<T> => ({ key, read })

/** A member of the value that is not in the document. */
export const constant = <const T>(value: T): Field<T> => ({ read: () => ({ value }) })

/** Members by their name in the value. A nested shape groups members of a flat document. */
export type Shape = { readonly [name: string]: Reader<unknown> | Field<unknown> | Shape }
export type ValueOf<S> = S extends Reader<infer T> | Field<infer T>
  ? T
  : { readonly [N in keyof S]: ValueOf<S[N]> }

/** Adds a fault to a member, or to the value itself where `member` is empty. */
export type AddFault = (member: string, fault: string) => undefined

/** Finds members that contradict one another. Members with a fault of their own are undefined. */
export type Check = (members: ReadonlyMap<string, unknown>, addFault: AddFault) => void

/** An object with these members and no others, so that a misspelt key is a fault. */
export const object = <S extends Shape>(shape: S, check: Check = () => {}): Reader<ValueOf<S>> =>
  required((given, path, pass) => {
    if (!isPlainObject(given)) return fault(pass, `${path} must be an object`)
    const faultsBefore = pass.faults.length
    const members = new Map<string, unknown>()
    const readShape = (part: Shape): unknown =>
      Object.fromEntries(
        Object.entries(part).map(([name, entry]) => {
          const field = typeof entry === 'function' ? from(name, entry) : entry
          if (!isField(field)) return [name, readShape(field)]
          const { key, read } = field
          if (key === undefined) return [name, read(undefined, path, pass)?.value]
          members.set(key, read(given[key], join(path, key), pass)?.value)
          return [name, members.get(key)]
        }),
      )
    const value = readShape(shape) as ValueOf<S>
    for (const key of Object.keys(given)) {
      if (!members.has(key)) fault(pass, `${join(path, key)} is no setting of the fee schedule`)
    }
    check(members, faultAdder(path, pass))
    return pass.faults.length === faultsBefore ? { value } : undefined
  })

/** An object with any members; `readerOf` gives the reader of each. */
export const record = <T>(readerOf: (key: string) => Reader<T>): Reader<ReadonlyMap<string, T>> =>
  required((given, path, pass) => {
    if (!isPlainObject(given)) return fault(pass, `${path} must be an object`)
    const values = new Map<string, T>()
    for (const [key, member] of Object.entries(given)) {
      const read = readerOf(key)(member, join(path, key), pass)
      if (read !== undefined) values.set(key, read.value)
    }
    return values.size === Object.keys(given).length ? { value: values } : undefined
  })

export const list = <T>(read: Reader<T>, itemsMax: number): Reader<readonly T[]> =>
  required((given, path, pass) => {
    if (!Array.isArray(given) || given.length > itemsMax) {
      return fault(pass, `${path} must be a list of at most ${itemsMax}`)
    }
    const items = given.flatMap((item, at) => read(item, join(path, String(at)), pass) ?? [])
    return items.length === given.length ? { value: items.map(({ value }) => value) } : undefined
  })

/** A value that a TypeBox schema describes in full. */
export const leaf = <S extends TSchema>(schema: S): Reader<Static<S>> =>
  required((given, path, pass) => {
    // Patterns take quadratic time on long text.
    if (typeof given === 'string' && given.length > limits.configurationTextLengthMax) {
      return fault(
        pass,
        `${path} must have at most ${limits.configurationTextLengthMax} characters`,
      )
    }
    const [, errors] = Errors(schema, given)
    if (errors.length === 0) return { value: given as Static<S> }
    if (Type.IsUnion(schema)) {
      return fault(pass, `${path} is none of the values that may stand here`)
    }
    return fault(pass, ...errors.map(({ message }) => `${path} ${message}`))
  })

export const optional =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (given, path, pass) =>
    given === undefined ? { value: undefined } : read(given, path, pass)

/** Converts a value that has no fault. `to` may still add faults. */
export const convert =
  <A, B>(read: Reader<A>, to: (value: A, addFault: AddFault, env: Environment) => B): Reader<B> =>
  (given, path, pass) => {
    const found = read(given, path, pass)
    if (found === undefined) return undefined
    const faultsBefore = pass.faults.length
    const value = to(found.value, faultAdder(path, pass), pass.environment)
    return pass.faults.length === faultsBefore ? { value } : undefined
  }

export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isField = (entry: Field<unknown> | Shape): entry is Field<unknown> =>
  typeof entry.read === 'function'

function required<T>(read: Reader<T>): Reader<T> {
  return (given, path, pass) =>
    given === undefined ? fault(pass, `${path} is missing`) : read(given, path, pass)
}

export function fault(pass: Pass, ...texts: readonly string[]): undefined {
  pass.faults.push(...texts)
}

const faultAdder =
  (path: string, pass: Pass): AddFault =>
  (member, text) =>
    fault(pass, `${member === '' ? path : join(path, member)} ${text}`)

/** The document chose the keys, so they are made printable. */
const join = (path: string, key: string): string =>
  path === '' ? printable(key) : `${path}.${printable(key)}`
