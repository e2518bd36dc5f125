type Members = Readonly<Record<string, unknown>>

/**
 * The paths of the members that differ, such as `fiat_account_owner.name`, in the order of the
 * records. An array differs as a whole.
 */
export function changedMembers(before: Members, after: Members): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [one, other] = [before[name], after[name]]
    if (isObject(one) && isObject(other)) {
      return changedMembers(one, other).map((inner) => `${name}.${inner}`)
    }
    return JSON.stringify(one) === JSON.stringify(other) ? [] : [name]
  })
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
