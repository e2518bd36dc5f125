import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Secret } from '../../src/platform/secret.ts'
import { openVault, type VaultDeps } from '../../src/vault/open-vault.ts'
import { systemRandom } from '../../src/vault/random.ts'
import { temporaryFolder } from '../oauth/support/temporary.ts'
import { setClock } from '../oauth/support/time.ts'
import { newStorePlace } from '../support/store-place.ts'

async function newStore(context: TestContext) {
  const folder = temporaryFolder(context)
  const place = await newStorePlace(context)
  const store = await place.openCredentials()
  const clock = setClock()
  const keyFile = join(folder, 'bursar.master-key')
  const none = { masterKey: undefined, previousMasterKey: undefined }
  const open = (sources: Partial<VaultDeps>) =>
    openVault({ store, ...none, keyFile: undefined, clock, random: systemRandom, ...sources })
  return { place, store, clock, keyFile, open }
}

const newMaster = () => new Secret(randomBytes(32).toString('base64'))

const refusal = (pattern: RegExp) => (error: unknown) => {
  assert.equal((error as Error).name, 'ConfigError')
  assert.match((error as Error).message, pattern)
  return true
}

test('creates a 0600 master key file at the first start and opens the same keys at the next', async (t) => {
  const { keyFile, open } = await newStore(t)
  const first = await open({ keyFile })
  const second = await open({ keyFile })
  assert.equal(statSync(keyFile).mode & 0o777, 0o600)
  assert.match(readFileSync(keyFile, 'utf8'), /^[A-Za-z0-9+/]{43}=\n$/)
  for (const purpose of ['cursor', 'client-secret', 'token-signing'] as const) {
    assert.deepEqual(second.current(purpose), first.current(purpose), purpose)
    assert.equal(first.current(purpose).key.length, 32, purpose)
  }
})

test('refuses a master key file that other users can read', async (t) => {
  const { keyFile, open } = await newStore(t)
  await open({ keyFile })
  chmodSync(keyFile, 0o640)
  await assert.rejects(open({ keyFile }), refusal(/other users can read or write it.*chmod 600/))
})

test('refuses a master key file with other content', async (t) => {
  const { keyFile, open } = await newStore(t)
  writeFileSync(keyFile, 'not a key\n', { mode: 0o600 })
  await assert.rejects(open({ keyFile }), refusal(/does not hold a master key/))
})

test('does not create a master key for a store that already holds keys', async (t) => {
  const { keyFile, open } = await newStore(t)
  await open({ keyFile })
  unlinkSync(keyFile)
  await assert.rejects(open({ keyFile }), refusal(/master key is missing.*Restore the file/))
})

test('refuses to start without a master key if the store has no key file', async (t) => {
  const { open } = await newStore(t)
  await assert.rejects(open({}), refusal(/BURSAR_MASTER_KEY is not set/))
})

test('refuses the wrong master key and names both fingerprints', async (t) => {
  const { open } = await newStore(t)
  await open({ masterKey: newMaster() })
  await assert.rejects(
    open({ masterKey: newMaster() }),
    refusal(/wrapped with master key [0-9a-f]{16}, but [0-9a-f]{16} is configured/),
  )
})

test('opens keys of two master keys, rewraps them, and then needs only the new one', async (t) => {
  const { open } = await newStore(t)
  const [old, next] = [newMaster(), newMaster()]
  const before = await open({ masterKey: old })
  const both = await open({ masterKey: next, previousMasterKey: old })
  assert.equal(await both.rewrap(), 3)
  assert.equal(await both.rewrap(), 0)
  const after = await open({ masterKey: next })
  assert.deepEqual(after.current('cursor').key, before.current('cursor').key)
  await assert.rejects(open({ masterKey: old }), refusal(/wrapped with master key/))
})

test('refuses a wrapped key that was moved to another row or has a changed bit', async (t) => {
  const { store, open } = await newStore(t)
  const masterKey = newMaster()
  await open({ masterKey })
  const [first, second] = await store.readPurposeKeys()
  assert(first !== undefined && second !== undefined)
  await store.rewrapPurposeKeys([{ ...first, wrapped: second.wrapped }])
  await assert.rejects(open({ masterKey }), refusal(/is damaged in the store/))
  const cut = first.wrapped.split('.').map((part, index) => (index === 2 ? part.slice(0, 6) : part))
  await store.rewrapPurposeKeys([{ ...first, wrapped: cut.join('.') }])
  await assert.rejects(open({ masterKey }), refusal(/is damaged in the store/))
})

test('publishes a rotated key five seconds before it is used', async (t) => {
  const { clock, open } = await newStore(t)
  const keyring = await open({ masterKey: newMaster() })
  const old = keyring.current('token-signing')
  const next = await keyring.rotate('token-signing', { revokeOthers: false })
  assert.equal(keyring.current('token-signing').id, old.id)
  assert.deepEqual(keyring.byId(next.id), next)
  clock.advance(5)
  assert.equal(keyring.current('token-signing').id, next.id)
  assert.deepEqual(keyring.byId(old.id), old)
})

test('refuses the old key at once when a rotation revokes it', async (t) => {
  const { open } = await newStore(t)
  const keyring = await open({ masterKey: newMaster() })
  const old = keyring.current('token-signing')
  const next = await keyring.rotate('token-signing', { revokeOthers: true })
  assert.equal(keyring.current('token-signing').id, next.id)
  assert.equal(keyring.byId(old.id), undefined)
})

test('two processes that start at once on a new store end with the same keys', async (t) => {
  const { place, store, keyFile, open } = await newStore(t)
  const other = await place.openCredentials('server')
  const [one, two] = await Promise.all([open({ keyFile }), open({ keyFile, store: other })])
  assert.equal((await store.readPurposeKeys()).length, 3)
  assert.deepEqual(one.current('cursor'), two.current('cursor'))
})
