import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customerScopes, operatorScopes } from '../src/scopes.ts'

/** The names that callers write are of one style on all three APIs. */

test('a scope is written in lower case with underscores', () => {
  for (const scope of [...customerScopes, ...operatorScopes]) {
    assert.match(scope, /^[a-z]+:[a-z]+(_[a-z]+)*$/)
  }
})
