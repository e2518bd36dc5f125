import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setLimits } from '../../../../test/support/set-limits.ts'
import { newStorePlace } from '../../../../test/support/store-place.ts'
import { temporaryFolder } from '../../../oauth/test/support/temporary.ts'
import { setClock } from '../../../oauth/test/support/time.ts'
import { Secret } from '../../src/secret.ts'
import { openVault, type VaultDeps } from '../../src/vault/open-vault.ts'
import { purposes } from '../../src/vault/purpose-key.ts'
import { systemRandom } from '../../src/vault/random.ts'

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
  for (const purpose of purposes) {
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
  writeFileSync(keyFile, `\ufeff${'A'.repeat(43)}=`, 'utf16le')
  await assert.rejects(open({ keyFile }), refusal(/is UTF-16; save it as UTF-8/))
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
  assert.equal(await both.rewrap(), purposes.length)
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
  assert.equal((await store.readPurposeKeys()).length, purposes.length)
  assert.deepEqual(one.current('cursor'), two.current('cursor'))
})

test('takes the master key from the output of a command', async (t) => {
  const { open } = await newStore(t)
  const key = newMaster()
  const first = await open({ masterKey: key })
  const second = await open({ keyCommand: ['/bin/echo', key.reveal()] })
  assert.deepEqual(second.current('cursor'), first.current('cursor'))
  await assert.rejects(
    open({ masterKey: key, keyCommand: ['/bin/echo', key.reveal()] }),
    refusal(/^Set either BURSAR_MASTER_KEY or BURSAR_KEY_COMMAND, not both\.$/),
  )
})

test('refuses a command that fails, is no program, or prints no key, and never shows its output', async (t) => {
  const { open } = await newStore(t)
  const canary = randomBytes(31).toString('base64')
  const script = (code: string) => [process.execPath, '-e', code]
  for (const [keyCommand, pattern] of [
    [script(`console.log('${canary}'); process.exit(3)`), /ended with code 3/],
    [script(`console.error('${canary}'); process.kill(process.pid)`), /was ended by SIGTERM/],
    [['/bin/echo', canary], /did not print a master key/],
    [['/bin/echo', '-n', ''], /did not print a master key/],
    [['/nowhere/a-program', canary], /cannot be run \(ENOENT\)/],
    [script(`console.log('${canary}'.repeat(100))`), /printed more than a master key/],
    // There is no shell, so these are arguments.
    [['/bin/echo', `$(echo ${canary})`], /did not print a master key/],
  ] as const) {
    await assert.rejects(open({ keyCommand }), (error: Error) => {
      assert.equal(error.name, 'ConfigError')
      assert.match(error.message, pattern)
      assert.doesNotMatch(error.message, new RegExp(RegExp.escape(canary)))
      return true
    })
  }
})

test('ends a command that takes longer than its limit', async (t) => {
  setLimits(t, { keyCommandMs: 1000 })
  const { open } = await newStore(t)
  const keyCommand = [
    process.execPath,
    '-e',
    'process.on("SIGTERM", () => {}); process.stdin.resume(); require("node:net").createServer().listen(0)',
  ]
  await assert.rejects(open({ keyCommand }), refusal(/took longer than 1 s/))
})
