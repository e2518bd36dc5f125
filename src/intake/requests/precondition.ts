import type { IncomingHttpHeaders } from 'node:http'
import { type Problem, problem } from '../../contract/problem.ts'
import { limits } from '../../platform/limits.ts'
import type { Precondition } from '../../store/records/put.ts'

/**
 * `If-Match` and `If-None-Match` of a write (RFC 9110 section 13.1). A header that cannot be read
 * is a 400: a write must not ignore its condition.
 */
export const preconditionOf = (headers: IncomingHttpHeaders): Precondition => ({
  // A weak tag is no condition for a write: two different versions may have it.
  match: readTags('If-Match', headers['if-match']),
  noneMatch: readTags('If-None-Match', headers['if-none-match']),
})

function readTags(name: string, header: string | undefined): readonly string[] | 'any' | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return 'any'
  const tags = header.length > limits.entityTagsLengthMax ? [] : header.split(',')
  const versions = tags.map((tag) => /^\s*(W\/)?"([\x21\x23-\x7e]*)"\s*$/.exec(tag))
  if (versions.length === 0 || versions.includes(null)) {
    throw problem('malformed', `${name} must be * or entity tags such as "1a2b3c"`)
  }
  return versions.map((found) => (found?.[1] === undefined ? (found?.[2] ?? '') : ''))
}

export const unmet = (version: string | undefined): Problem =>
  version === undefined
    ? problem('preconditionFailed', 'no version is stored, so the condition is not met')
    : problem('preconditionFailed', 'another version is stored; read it, and send its entity tag', {
        headers: { etag: `"${version}"` },
      })
