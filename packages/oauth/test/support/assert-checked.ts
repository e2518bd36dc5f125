import assert from 'node:assert/strict'

/** A valid token is answered with its caller, a refused one with the cause. */
export function assertAccepted<T extends object>(
  answer: T | string,
  message?: string,
): asserts answer is T {
  assert.equal(typeof answer, 'object', `${answer} ${message ?? ''}`)
}

export function assertRefused(answer: object | string, message?: string): void {
  assert.equal(typeof answer, 'string', `accepted ${message ?? ''}`)
}
