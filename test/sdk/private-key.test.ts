import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { systemRandom, systemTime } from '@bursar/base'
import { createClient, readClientKeys } from '@bursar/oauth'
import { decodeJwt, exportJWK, exportPKCS8, generateKeyPair, type JWK } from 'jose'
import {
  AuthenticationError,
  type BursarOptions,
  createBursar,
  type PrivateKey,
} from '../../sdk/src/index.ts'
import { describeService } from '../support/describe-service.ts'
import { until } from '../support/until.ts'
import { takeTime } from '../support/virtual-time.ts'

const service = describeService({ store: 'sqlite' })

/** Registers a client with public keys. Returns its id. */
async function register(...keys: readonly JWK[]): Promise<string> {
  const { credentials: store, keyring, oauth } = service.parts
  const read = await readClientKeys(JSON.stringify({ keys }))
  assert.ok('jwks' in read, inspect(read))
  const deps = { store, keyring, clock: systemTime.now, random: systemRandom }
  const made = await createClient(deps, {
    customerId: 'acme',
    name: 'With keys',
    scopes: undefined,
    method: { kind: 'keys', jwks: read.jwks },
  })
  assert.ok('client' in made)
  await oauth.refresh()
  return made.client.id
}

type KeyOptions = {
  readonly keyId?: string
  readonly audience?: string
} & Pick<BursarOptions, 'fetch' | 'timeoutMs'>
const clientOf = (clientId: string, privateKey: PrivateKey, options: KeyOptions = {}) =>
  createBursar({ baseUrl: service.url, clientId, privateKey, retryDelayMs: 0, ...options })

describe('a client with a private key gets its tokens', () => {
  for (const algorithm of ['ES256', 'Ed25519', 'PS256'] as const) {
    test(`with ${algorithm}, from PEM, a JSON Web Key and a key of WebCrypto`, async () => {
      const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
      const kid = `the-${algorithm}-key`
      const jwk = await exportJWK(privateKey)
      const clientId = await register({ ...(await exportJWK(publicKey)), kid })
      const forms: readonly (readonly [string, PrivateKey, string | undefined])[] = [
        ['PEM', await exportPKCS8(privateKey), undefined],
        ['PEM with the id of its key', await exportPKCS8(privateKey), kid],
        ['JSON Web Key', { ...jwk, kid, alg: algorithm, use: 'sig' }, undefined],
        ['WebCrypto', privateKey, kid],
      ]
      for (const [name, key, keyId] of forms) {
        const bursar = clientOf(clientId, key, keyId === undefined ? {} : { keyId })
        const [quote] = await bursar.issuerQuotes.list({ limit: 100 }).toArray({ max: 1000 })
        assert.ok(quote?.id, name)
      }
    })
  }

  test('with a new assertion for each attempt, because each is good once', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const clientId = await register(await exportJWK(publicKey))
    const assertions: (string | null)[] = []
    const bursar = clientOf(clientId, privateKey, {
      fetch: async (url, init) => {
        if (!url.endsWith('/oauth2/token')) return fetch(url, init)
        assertions.push(new URLSearchParams(init.body).get('client_assertion'))
        const response = await fetch(url, init)
        // The server has taken the assertion, and its answer is lost.
        return assertions.length === 1 ? new Response('', { status: 502 }) : response
      },
    })
    await bursar.issuerQuotes.list().pages()[Symbol.asyncIterator]().next()
    assert.deepEqual([assertions.length, new Set(assertions).size], [2, 2])
  })

  test('with an assertion for the next minute of the wall clock', async () => {
    using time = takeTime()
    const { privateKey } = await generateKeyPair('ES256')
    const lives: unknown[] = []
    const bursar = clientOf('a', privateKey, {
      fetch: async (_url, { body }) => {
        const assertion = new URLSearchParams(body).get('client_assertion')
        const { iat, exp } = decodeJwt(assertion ?? '')
        lives.push([iat, exp])
        return new Response('', { status: 400 })
      },
    })
    const expected: unknown[] = []
    for (const jumpMicros of [0n, -3_600_000_000n]) {
      time.jump(jumpMicros)
      const seconds = Number(time.now() / 1_000_000n)
      expected.push([seconds, seconds + 60])
      await assert.rejects(bursar.fiatAccounts.get('x'), AuthenticationError)
    }
    assert.deepEqual(lives, expected)
  })
})

test('a sandbox says which audience it expects of an assertion', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const clientId = await register(await exportJWK(publicKey))
  const audience = `${service.url}/oauth2/token`
  await assert.rejects(
    clientOf(clientId, privateKey, { audience }).fiatAccounts.get('x'),
    (error) => {
      assert.ok(error instanceof AuthenticationError)
      const expected = `client authentication failed: aud must be ${service.url} as a string`
      assert.ok(error.message.includes(expected), error.message)
      return true
    },
  )
})

describe('a private key', () => {
  test('is imported anew by another request if its import gets no outcome', async (t) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const clientId = await register(await exportJWK(publicKey))
    const bursar = clientOf(clientId, await exportPKCS8(privateKey), { timeoutMs: 5000 })
    using time = takeTime()
    const { mock } = t.mock.method(crypto.subtle, 'importKey', () => new Promise(() => {}))
    const lost = bursar.issuerQuotes.list().toArray({ max: 1000 })
    await until(() => mock.callCount() === 1)
    mock.restore()
    // The server keeps its time, and takes no assertion of the future.
    time.jump(-6_000_000n)
    await time.advance(6000)
    assert.ok((await lost).length > 10)
  })

  test('that cannot sign is refused without a part of it', async () => {
    const { publicKey } = await generateKeyPair('ES256')
    const faulty: readonly PrivateKey[] = [
      '-----BEGIN PRIVATE KEY-----\nc2VjcmV0LWtleQ==\n-----END PRIVATE KEY-----',
      'secret-key',
      { kty: 'EC', crv: 'P-256', d: 'secret-key' },
      { kty: 'oct', alg: 'HS256', d: 'secret-key' },
      { ...(await exportJWK(publicKey)) },
    ]
    for (const key of faulty) {
      await assert.rejects(clientOf('a', key).fiatAccounts.get('x'), (error) => {
        assert.ok(error instanceof TypeError)
        assert.match(error.message, /^privateKey must be a private key for ES256, EdDSA/)
        assert.ok(!/secret-key|c2Vj/.test(inspect(error, { depth: 9 })))
        return true
      })
    }
  })

  test('excludes a secret', () => {
    const options = { baseUrl: service.url, clientId: 'a', privateKey: 'b', clientSecret: 'c' }
    // @ts-expect-error: one of the two.
    assert.throws(() => createBursar(options), { name: 'TypeError', message: /one of/ })
  })
})
