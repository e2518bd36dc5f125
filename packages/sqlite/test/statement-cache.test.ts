import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { statementCache } from '../src/session.ts'

test('keeps the most recently used statements', () => {
  const db = new DatabaseSync(':memory:')
  const prepare = statementCache((sql) => db.prepare(sql))
  const often = prepare('select 1')
  const once = prepare('select 2')
  for (let shape = 3; shape < 150; shape += 1) {
    prepare(`select ${shape}`)
    prepare('select 1')
  }
  assert.equal(prepare('select 1'), often)
  assert.notEqual(prepare('select 2'), once)
  db.close()
})
