import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closest } from '../../src/values/closest.ts'

test('a misspelt word means the known one that differs least, and a far one means none', () => {
  const known = ['ASC', 'DESC', 'ETHEREUM', 'created_at', 'statements', 'port', 'USD']
  const meant = {
    ETHERIUM: 'ETHEREUM',
    ethereum: 'ETHEREUM',
    statment: 'statements',
    createdAt: 'created_at',
    'created-at': 'created_at',
    prot: 'port',
    DSC: 'DESC',
    EUR: undefined,
    x: undefined,
    colour: undefined,
  }
  for (const [given, name] of Object.entries(meant)) {
    assert.equal(closest(given, known), name, given)
  }
  assert.equal(closest('x'.repeat(1_000_000), known), undefined)
})
