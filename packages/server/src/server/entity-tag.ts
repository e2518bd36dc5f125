import { type Answer, contractLimits } from '@bursar/contract'

/** Answers 304 where the caller holds this very page (RFC 9110 section 13.1.2, weak comparison). */
export function unlessMatched(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const { headers } = answer
  if (headers.etag === undefined || !isMatch(headers.etag, ifNoneMatch)) return answer
  answer.sent?.()
  return notModified(headers)
}

const notModified = (headers: Answer['headers']): Answer => ({
  status: 304,
  headers,
  body: undefined,
})

/** Whether `If-None-Match` names the tag. A condition may be ignored: the answer is then whole. */
export function isMatch(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch.length > contractLimits.entityTagsLengthMax)
    return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag))
}
