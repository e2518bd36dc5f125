import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import type { WrappedKey } from '@bursar/base'
import { type Client, type CredentialStore, openCredentials } from '@bursar/records'
import { sealMark, storeDisabled } from '../../../test/support/store-disabled.ts'
import { newStorePlace, type StorePlace } from '../../../test/support/store-place.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { holdLoop } from '../../../test/support/until.ts'
import { openFurther } from '../../sqlite/src/database.ts'
import { dialect } from '../../sqlite/src/dialect.ts'
import { openSqliteCredentials } from '../../sqlite/src/open-sqlite-credentials.ts'
import { openSession } from '../../sqlite/src/session.ts'
import { temporaryFolder } from './support/temporary.ts'

type Opened = { readonly store: CredentialStore; readonly place: StorePlace }

async function newStore(context: TestContext): Promise<Opened> {
  const place = await newStorePlace(context)
  return { store: await place.openCredentials(), place }
}

const acme: Client = {
  id: 'client_acme',
  customerId: 'acme',
  boundTo: null,
  name: 'Acme treasury',
  scopes: ['transfer:read_fiat_account', 'statements:read_statement'],
  method: { kind: 'secret' },
  createdAt: 1_000_000n,
  notBefore: 0n,
  disabledAt: undefined,
  lastUsedAt: undefined,
  seal: 'of-the-program',
}

const borealis: Client = { ...acme, id: 'client_borealis', customerId: 'borealis' }

const fresh = { expiresAt: undefined, lastUsedAt: undefined }
const secretOf = (id: string, createdAt = 1n) => ({ id, hash: `hmac256:key:${id}`, createdAt })
/** What the audit log knows of the last change. */
const markOf = (number: bigint, notBefore: bigint, ...secrets: readonly string[]) => ({
  number,
  notBefore,
  rowSeal: acme.seal,
  secrets: secrets.map((id) => `${id} hmac256:key:${id} 1 `).join(','),
  seal: 'none',
})
const rotationTo = (id: string) => ({
  secret: secretOf(id),
  previousUntil: 100n,
  notBefore: undefined,
})

test('gives a client back as it was added, with its secret', async (t) => {
  const { store } = await newStore(t)
  assert.equal(await store.addClient(acme, secretOf('s1'), sealMark), 'added')
  const found = await store.findClient('client_acme')
  const secrets = [{ ...secretOf('s1'), ...fresh }]
  assert.deepEqual(found, { ...acme, mark: markOf(1n, 0n, 's1'), secrets })
  assert.equal(await store.findClient('client_other'), undefined)
})

test('finds clients that are requested at once, each for its id', async (t) => {
  const { store } = await newStore(t)
  await store.addClient(acme, secretOf('s1'), sealMark)
  await store.addClient(borealis, secretOf('s2'), sealMark)
  await store.rotateSecret(acme.id, rotationTo('s3'), sealMark)
  const ids = [acme.id, 'nobody', borealis.id, acme.id, `{"${acme.id}"}`, '']
  const found = await Promise.all(ids.map((id) => store.findClient(id)))
  assert.deepEqual(
    found.map((client) => client && [client.id, client.secrets.map(({ id }) => id)]),
    [
      [acme.id, ['s1', 's3']],
      undefined,
      [borealis.id, ['s2']],
      [acme.id, ['s1', 's3']],
      undefined,
      undefined,
    ],
  )
})

test('reads the clients of one turn of the event loop in one statement, and later ones anew', async (t) => {
  const path = join(temporaryFolder(t), 'turn.db')
  const store = openSqliteCredentials(path)
  await store.addClient(acme, secretOf('s1'), sealMark)
  const session = openSession(openFurther(path))
  let statements = 0
  const { findClient } = openCredentials({
    dialect,
    waitMs: 5000,
    rows: (statement) => {
      statements += 1
      return session.rows(statement)
    },
    read: (work) => work(session, 0n),
    write: (work) => work(session),
    change: (work) => work(session),
    numberSince: () => undefined,
    onChange: () => () => {},
  })
  await Promise.all([findClient(acme.id), findClient('nobody'), findClient(acme.id)])
  assert.equal(statements, 1)
  await storeDisabled(store, acme.id, 2n, 3n)
  assert.equal((await findClient(acme.id))?.disabledAt, 2n)
  assert.equal(statements, 2)
})

test('finds a client on the embedded store after other work has held the event loop', async (t) => {
  const store = openSqliteCredentials(join(temporaryFolder(t), 'held.db'), { writeMs: 50 })
  await store.addClient(acme, secretOf('s1'), sealMark)
  const finding = store.findClient(acme.id)
  holdLoop(100)
  assert.equal((await finding)?.id, acme.id)
})

test('keeps what was acknowledged when the process ends without closing', async (t) => {
  const { store, place } = await newStore(t)
  await store.addClient(acme, secretOf('s1'), sealMark)
  const again = await place.openCredentials()
  assert.equal((await again.findClient('client_acme'))?.name, 'Acme treasury')
})

test('lists clients in the order they were created, each with its own secrets', async (t) => {
  const { store } = await newStore(t)
  const borealis = { ...acme, id: 'client_a', customerId: 'borealis', createdAt: 2_000_000n }
  const operator = { ...acme, id: 'client_operator', customerId: null, createdAt: 3_000_000n }
  await store.addClient(operator, undefined, sealMark)
  await store.addClient(borealis, secretOf('s3'), sealMark)
  await store.addClient(acme, secretOf('s1'), sealMark)
  await store.rotateSecret(acme.id, rotationTo('s2'), sealMark)
  const listed = await store.listClients()
  assert.deepEqual(
    listed.map(({ id, secrets }) => [id, secrets.map((secret) => secret.id)]),
    [
      ['client_acme', ['s1', 's2']],
      ['client_a', ['s3']],
      ['client_operator', []],
    ],
  )
  const { secrets: _, ...stored } = listed[2] ?? { secrets: [] }
  assert.deepEqual(stored, { ...operator, mark: markOf(1n, 0n) })
})

test('puts a client back as it was made, whatever has become of it', async (t) => {
  const { store } = await newStore(t)
  await store.addClient(acme, secretOf('s1'), sealMark)
  await store.rotateSecret(
    acme.id,
    { secret: secretOf('s2'), previousUntil: 100n, notBefore: 5n },
    sealMark,
  )
  await storeDisabled(store, acme.id, 6n, 7n)
  await store.restoreClient(acme, secretOf('s3'), sealMark)
  const secrets = [{ ...secretOf('s3'), ...fresh }]
  const mark = markOf(4n, 0n, 's3')
  assert.deepEqual(await store.findClient(acme.id), { ...acme, mark, secrets })
})

test('knows nobody by an id that cannot be stored', async (t) => {
  const { store } = await newStore(t)
  await store.addClient(acme, secretOf('s1'), sealMark)
  assert.equal(await store.findClient('client_acme\0'), undefined)
  assert.equal(await store.useAssertion('client_acme', 'a\0', 10n, 1n), true)
  assert.equal(await store.useAssertion('client_acme', 'a\0', 10n, 1n), false)
})

test('refuses an id or an external client that is taken', async (t) => {
  const { store } = await newStore(t)
  const method = { kind: 'issuer', issuer: 'https://id.example', externalId: 'ext' } as const
  assert.equal(await store.addClient({ ...acme, method }, undefined, sealMark), 'added')
  assert.equal(await store.addClient(acme, undefined, sealMark), 'taken')
  assert.equal(
    await store.addClient({ ...acme, id: 'client_b', method }, undefined, sealMark),
    'taken',
  )
})

test('keeps two live secrets at most, the newest, or only the new one', async (t) => {
  const { store } = await newStore(t)
  await store.addClient(acme, secretOf('s1'), sealMark)
  const live = async () => (await store.findClient('client_acme'))?.secrets.map(({ id }) => id)
  await store.rotateSecret('client_acme', rotationTo('s2'), sealMark)
  assert.deepEqual(await live(), ['s1', 's2'])
  await store.rotateSecret('client_acme', rotationTo('s3'), sealMark)
  assert.deepEqual(await live(), ['s2', 's3'])
  await store.rotateSecret(
    'client_acme',
    {
      secret: secretOf('s4'),
      previousUntil: undefined,
      notBefore: 5n,
    },
    sealMark,
  )
  assert.deepEqual(await live(), ['s4'])
  assert.equal((await store.findClient('client_acme'))?.notBefore, 5n)
  const nobody = rotationTo('s5')
  assert.equal(await store.rotateSecret('nobody', nobody, sealMark), false)
})

test('bumps the revision for what servers must hear of, and for nothing else', async (t) => {
  const { store } = await newStore(t)
  const bumps = async (work: () => Promise<unknown>) => {
    const before = await store.revision()
    await work()
    return Number((await store.revision()) - before)
  }
  assert.equal(await bumps(() => store.addClient(acme, secretOf('s1'), sealMark)), 1)
  assert.equal(await bumps(() => store.denyToken('jti', 9n, 1n)), 1)
  assert.equal(await bumps(() => storeDisabled(store, 'client_acme', 2n, 3n)), 1)
  assert.equal(await bumps(() => store.recordUse('client_acme', 's1', 7n)), 0)
  assert.equal(await bumps(() => store.useAssertion('client_acme', 'a', 9n, 1n)), 0)
  const states = await store.readStates(8n)
  assert.deepEqual(states.deniedTokens, [{ jti: 'jti', expiresAt: 9n }])
  const mark = markOf(2n, 3n, 's1')
  const disabled = { disabledAt: 2n, notBefore: 3n, lastUsedAt: 7n }
  assert.deepEqual(states.clients, [{ ...acme, ...disabled, mark }])
  assert.deepEqual((await store.readStates(9n)).deniedTokens, [])
})

test('lists the keys of customers that were destroyed, and tells every reader', async (t) => {
  const { store } = await newStore(t)
  const isToldAfter = async (since?: bigint) => (await store.readStates(1n, since)).keysDestroyed
  assert.equal(await isToldAfter(), false)
  const since = await store.revision()
  await store.addDestroyedKeys(['one', 'two'])
  assert.equal(await isToldAfter(since), true)
  assert.equal(await isToldAfter(), true)
  const later = await store.revision()
  await store.addDestroyedKeys(['two'])
  assert.equal(await isToldAfter(later), false)
  assert.deepEqual(await store.findDestroyedKeys(['two', 'three']), new Set(['two']))
})

test('answers what changed after a revision, and everything for a revision it never had', async (t) => {
  const { store } = await newStore(t)
  await store.addClient(acme, secretOf('s1'), sealMark)
  await store.addClient(borealis, secretOf('s2'), sealMark)
  await store.denyToken('first', 9n, 1n)
  const since = await store.revision()
  const namesOf = async (after?: bigint) => {
    const { isComplete, clients, deniedTokens, keysChanged } = await store.readStates(2n, after)
    const ids = clients.map(({ id }) => id)
    return { isComplete, ids, denied: deniedTokens.map(({ jti }) => jti).sort(), keysChanged }
  }
  const nothing = { isComplete: false, ids: [], denied: [], keysChanged: false }
  assert.deepEqual(await namesOf(since), nothing)
  await store.recordUse(acme.id, 's1', 7n)
  assert.deepEqual(await namesOf(since), nothing)
  await store.denyToken('second', 9n, 1n)
  assert.deepEqual(await namesOf(since), { ...nothing, denied: ['second'] })
  await storeDisabled(store, borealis.id, 2n, 3n)
  assert.deepEqual(await namesOf(since), {
    ...nothing,
    ids: [borealis.id],
    denied: ['second'],
  })
  const rotation = { secret: secretOf('s3'), previousUntil: undefined, notBefore: 5n } as const
  await store.rotateSecret(acme.id, rotation, sealMark)
  assert.deepEqual((await namesOf(since)).ids, [acme.id, borealis.id])
  const key: WrappedKey = {
    id: 'k1',
    purpose: 'cursor',
    wrapped: 'w',
    masterId: 'm',
    createdAt: 1n,
    activeFrom: 1n,
    revokedAt: undefined,
  }
  const beforeKeys = await store.revision()
  await store.addPurposeKey(key, 'beside')
  assert.deepEqual(await namesOf(beforeKeys), { ...nothing, keysChanged: true })
  const beforeRewrap = await store.revision()
  await store.rewrapPurposeKeys([key])
  assert.deepEqual(await namesOf(beforeRewrap), { ...nothing, keysChanged: true })
  const everything = {
    isComplete: true,
    ids: [acme.id, borealis.id],
    denied: ['first', 'second'],
    keysChanged: true,
  }
  assert.deepEqual(await namesOf(), everything)
  assert.deepEqual(await namesOf((await store.revision()) + 1n), everything)
})

test('lets an assertion be used once until it expires', async (t) => {
  const { store } = await newStore(t)
  assert.equal(await store.useAssertion('c', 'a', 10n, 1n), true)
  assert.equal(await store.useAssertion('c', 'a', 10n, 9n), false)
  assert.equal(await store.useAssertion('d', 'a', 10n, 9n), true)
  assert.equal(await store.useAssertion('c', 'a', 20n, 10n), true)
})

const aboutFiles = testStore === 'sqlite' ? describe : () => {}

aboutFiles('a file', () => {
  test('is for its owner alone', async (t) => {
    const { place } = await newStore(t)
    assert.equal(statSync(place.where).mode & 0o777, 0o600)
  })

  test('lets the event loop go on while another process holds the file, then answers or rejects', async (t) => {
    const { place } = await newStore(t)
    const [store, patient] = [2000, 60_000].map((writeMs) =>
      openSqliteCredentials(place.where, { writeMs }),
    )
    assert.ok(store !== undefined && patient !== undefined)
    const other = new DatabaseSync(place.where)
    t.after(() => Promise.all([other.close(), store.close(), patient.close()]))
    other.exec('begin immediate')
    const refused = Array.from({ length: 20 }, (_, at) => store.denyToken(`${at}`, 9n, 1n))
    const written = patient.denyToken('later', 9n, 1n)
    let settled = 0
    for (const one of refused) one.catch(() => (settled += 1))
    // A process that waits inside SQLite refuses the first of them before the loop turns.
    await new Promise(setImmediate)
    assert.equal(settled, 0, 'the event loop waited for the lock')
    for (const denied of await Promise.allSettled(refused)) {
      assert.equal(denied.status, 'rejected')
      assert.equal(denied.reason.name, 'StoreUnavailable')
      assert.match(denied.reason.message, /another process has locked the database/)
    }
    other.exec('rollback')
    await written
    await store.denyToken('jti', 9n, 1n)
    const { deniedTokens } = await store.readStates(0n)
    assert.deepEqual(deniedTokens.map(({ jti }) => jti).toSorted(), ['jti', 'later'])
  })
})
