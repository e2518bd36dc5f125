import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jwtVerify } from 'jose'
import { issueToken } from '../src/tokens/own-token.ts'
import { issuer, signingWorld } from './support/signing-world.ts'

const TOKENS = 200
const seconds = fc.integer({ min: 1, max: 4_000_000_000 })

test('signs in place what jose verifies, with every key and whatever the claims', async (t) => {
  const { cache, keyring, sample } = await signingWorld(t)
  const client = await sample('client_acme')
  await keyring.rotate('token-signing', { revokeOthers: false })
  await cache.refresh()
  const keys = [...cache.current().signingKeys.values()]
  assert.equal(keys.length, 2)
  const claims = fc.record({
    id: fc.string({ unit: 'grapheme', minLength: 1 }),
    scopes: fc.array(fc.string({ unit: 'grapheme' })),
    key: fc.constantFrom(...keys),
    issuedAt: seconds,
  })
  const ids = new Set<unknown>()
  await fc.assert(
    fc.asyncProperty(claims, async ({ id, scopes, key, issuedAt }) => {
      const now = BigInt(issuedAt) * 1_000_000n
      const token = issueToken({
        issuer,
        client: { ...client, id, notBefore: 0n },
        scopes,
        lifeSeconds: 900,
        key,
        now,
      })
      const currentDate = new Date(issuedAt * 1000)
      const options = { issuer, audience: issuer, typ: 'at+jwt', algorithms: ['ES256'] }
      const verified = await jwtVerify(token, key.publicKey, { ...options, currentDate })
      assert.deepEqual(verified.protectedHeader, { alg: 'ES256', typ: 'at+jwt', kid: key.id })
      const { jti, ...payload } = verified.payload
      ids.add(jti)
      assert.deepEqual(payload, {
        client_id: id,
        sub: id,
        scope: scopes.join(' '),
        iss: issuer,
        aud: issuer,
        iat: issuedAt,
        exp: issuedAt + 900,
      })
      const [other] = keys.filter(({ id: otherId }) => otherId !== key.id)
      assert(other !== undefined)
      await assert.rejects(jwtVerify(token, other.publicKey, { ...options, currentDate }), {
        code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      })
    }),
    { numRuns: TOKENS },
  )
  assert.equal(ids.size, TOKENS, 'each token has an id that no other token has')
})
