/**
 * Throws a TypeError for a filter that names no value, before anything is sent: a URL cannot hold
 * null, so the filter would be left out and the server would answer every record. A parameter that
 * is undefined is absent, as spreads of optional values make it.
 */
export function requireValues(filters: unknown): void {
  if (typeof filters !== 'object' || filters === null) {
    throw new TypeError('the filters must be an object, such as { limit: 100 }')
  }
  for (const [name, value] of Object.entries(filters)) {
    if (value === null) throw new TypeError(`${name} must not be null; leave it out to not filter`)
    if (!Array.isArray(value)) continue
    // Not `some`, which skips the holes of an array.
    const at = value.findIndex((entry) => entry === null || entry === undefined)
    if (at >= 0) throw new TypeError(`${name} must not contain ${value[at]}, as entry ${at} is`)
  }
}
