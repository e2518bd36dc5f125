import Type, { type TSchema } from 'typebox'
import { Errors } from 'typebox/value'

/**
 * Every way in which a value departs from a shape, one line a place, as `networks.BASE.margin_bp must be integer`.
 *
 * Walks objects and records itself and leaves only their leaves to the validator, which stops after eight errors
 * and tells one wrong member of a union in several words.
 */
export function shapeFaultsOf(shape: TSchema, value: unknown, path = ''): string[] {
  if (!Type.IsRecord(shape) && !Type.IsObject(shape)) return leafFaults(shape, value, path)
  if (!isPlainObject(value)) return [`${path} must be an object`]
  if (Type.IsRecord(shape)) {
    const member = Type.RecordValue(shape)
    return Object.entries(value).flatMap(([key, given]) =>
      shapeFaultsOf(member, given, join(path, key)),
    )
  }
  // An object of optional members alone has no list, whatever its type says.
  const required = (shape.required ?? []).filter((key) => !Object.hasOwn(value, key))
  return [
    ...required.map((key) => `${join(path, key)} is missing`),
    ...Object.entries(value).flatMap(([key, given]) => {
      const member: TSchema | undefined = Object.hasOwn(shape.properties, key)
        ? shape.properties[key]
        : undefined
      return member === undefined
        ? [`${join(path, key)} is no setting of the fee schedule`]
        : shapeFaultsOf(member, given, join(path, key))
    }),
  ]
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function leafFaults(shape: TSchema, value: unknown, path: string): string[] {
  const errors = Errors(shape, value)
  if (Type.IsUnion(shape) && errors.length > 0) {
    return [`${path} is none of the values that may stand here`]
  }
  return errors.map(({ instancePath, message }) => {
    return `${path}${instancePath.replaceAll('/', '.')} ${message}`
  })
}
