import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTenant } from '@bursar/contract'
import type { Client } from '@bursar/records'
import { openCheckedTokens } from '../src/tokens/checked-tokens.ts'

const client: Client = {
  id: 'client_acme',
  customerId: 'acme',
  boundTo: null,
  name: 'Acme',
  scopes: [],
  method: { kind: 'secret' },
  createdAt: 0n,
  notBefore: 0n,
  disabledAt: undefined,
  lastUsedAt: undefined,
  seal: '',
}
const caller = { clientId: client.id, tenant: asTenant('acme'), scopes: new Set<string>() }
const acme = { caller, client, tokenId: 'jti' }
const second = 1_000_000n

test('caches a token for a minute, or until it expires', () => {
  const tokens = openCheckedTokens(10)
  tokens.add('long', acme, 900, 0n)
  tokens.add('short', acme, 30, 0n)
  assert.equal(tokens.find('long', 60n * second - 1n), acme)
  assert.equal(tokens.find('long', 60n * second), undefined)
  assert.equal(tokens.find('short', 30n * second - 1n), acme)
  assert.equal(tokens.find('short', 30n * second), undefined)
  assert.equal(tokens.find('other', 0n), undefined)
})

test('evicts the oldest token when it is full', () => {
  const tokens = openCheckedTokens(2)
  for (const digest of ['a', 'b', 'a', 'c']) tokens.add(digest, acme, 900, 0n)
  const held = ['a', 'b', 'c'].filter((digest) => tokens.find(digest, 0n) !== undefined)
  assert.deepEqual(held, ['a', 'c'])
})

test('clears every entry', () => {
  const tokens = openCheckedTokens(2)
  tokens.add('a', acme, 900, 0n)
  tokens.clear()
  assert.equal(tokens.find('a', 0n), undefined)
})
