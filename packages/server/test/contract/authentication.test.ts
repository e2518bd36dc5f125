import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Clock, systemRandom } from '@bursar/base'
import { customerScopes, getEvent, type Operation, operations } from '@bursar/contract'
import { createSampleClient } from '@bursar/oauth'
import type { Client } from '@bursar/records'
import { assertProblem } from '../../../../test/support/assert-answer.ts'
import { contractAdditions, contractFee, contractReads } from '../../../../test/support/contract.ts'
import { addCustomerClient } from '../../../../test/support/customer-client.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, type TestService } from '../../../../test/support/harness.ts'
import { callOf, lists, pathOf } from '../../../../test/support/operation-calls.ts'
import { calledOf, rawRequest } from '../../../../test/support/raw-request.ts'
import { issueToken } from '../../../oauth/src/tokens/own-token.ts'
import { importSigningKeys } from '../../../oauth/src/tokens/signing-keys.ts'

const startedAt = BigInt(Date.UTC(2026, 10, 21)) * 1000n
let aheadSeconds = 0n
const clock: Clock = () => startedAt + aheadSeconds * 1_000_000n

const service = describeService({ clock })

const contract: Readonly<Record<string, { readonly scope: string }>> = {
  ...contractReads,
  [contractFee.path]: contractFee,
  ...contractAdditions,
}
const scopeOf = ({ path }: Operation) => contract[path.replace(':id', '{id}')]?.scope

const instanceOf = (operation: Operation): string => pathOf(operation).split('?')[0] ?? ''

const badToken = 'the access token is invalid or revoked; get a new one'
const badScheme = "the Authorization header must read 'Bearer <access token>'"

/** Signs a token with the service's own key; the scopes need not exist. */
async function signToken(scopes: readonly string[], over: Partial<Client> = {}): Promise<string> {
  const { credentials, keyring, oauth } = service.parts
  const id = over.id ?? `scoped_${scopes.join('_').replaceAll(/\W/g, '_')}`
  await createSampleClient(
    { store: credentials, keyring, clock, random: systemRandom },
    { id, secret: `${id}_secret`, customerId: 'acme', name: id, scopes },
  )
  await oauth.refresh()
  const client = await credentials.findClient(id)
  const key = (await importSigningKeys(keyring)).get(keyring.current('token-signing').id)
  assert.ok(client !== undefined && key !== undefined)
  return issueToken({ issuer: service.url, client, scopes, lifeSeconds: 900, key, now: clock() })
}

for (const operation of operations) {
  describe(operation.id, () => {
    const path = pathOf(operation)
    const instance = instanceOf(operation)
    const sent = callOf(operation)
    const call: TestService['call'] = (to, options) => service.call(to, { ...sent, ...options })
    const unauthorized = (detail: string) => ({
      status: 401,
      detail,
      instance,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    })
    const forbidden = (found: string) => ({
      status: 403,
      detail: `insufficient scopes: found '${found}', required one of '[${operation.scope}]'`,
      instance,
      headers: {
        'www-authenticate': `Bearer error="insufficient_scope", scope="${operation.scope}"`,
      },
    })

    test('answers a token that has only its own scope', async () => {
      const scope = String(scopeOf(operation))
      const called = await call(path, { token: await service.tokenOf(acme, scope) })
      assert.equal(operation.scope, scope)
      // Which events a client sees is up to its other scopes, so this token sees none.
      const [status, type] =
        operation.id === getEvent.id ? [404, 'application/problem+json'] : [200, 'application/json']
      assert.deepEqual([called.status, called.headers.get('content-type')], [status, type])
    })

    test('refuses a request without a token', async () => {
      const called = await call(path, { as: null })
      assertProblem(called, {
        status: 401,
        detail: 'no authorization header set',
        instance,
        headers: { 'www-authenticate': 'Bearer' },
      })
    })

    test('refuses two Authorization headers, even when both are valid', async () => {
      const bearer = `Bearer ${await service.tokenOf(acme)}`
      const answer = await rawRequest(service.url, path, {
        ...sent,
        headers: ['authorization', bearer, 'Authorization', bearer],
      })
      assertProblem(calledOf(answer), unauthorized('the Authorization header must be sent once'))
    })

    test('refuses a token in the query, with and without a valid header', async () => {
      const token = await service.tokenOf(acme)
      const detail = 'the access token must be sent in the Authorization header, not in the query'
      for (const name of ['access_token', 'access%5Ftoken', '%61ccess_token']) {
        const inQuery = `${path}${path.includes('?') ? '&' : '?'}${name}=${token}`
        assertProblem(await call(inQuery), unauthorized(detail), name)
        const alone = await call(inQuery, { as: null })
        assert.equal(alone.status, 401, name)
      }
    })

    test('refuses every other scheme and malformed tokens', async () => {
      const token = await service.tokenOf(acme)
      const { clientId, clientSecret } = acme
      const headers: readonly (readonly [string, string])[] = [
        [`Basic ${btoa(`${clientId}:${clientSecret}`)}`, badScheme],
        [`Bearer ${token} ${token}`, badScheme],
        [`Bearer,${token}`, badScheme],
        ['Bearer', badScheme],
        [token, badScheme],
        [`Token ${token}`, badScheme],
        ['Bearer "quoted"', badScheme],
        ['Bearer garbage', badToken],
        ['Bearer a.b.c', badToken],
        ['Bearer ..', badToken],
        [`Bearer ${'x'.repeat(20_000)}`, badToken],
      ]
      for (const [authorization, detail] of headers) {
        const called = await call(path, { as: null, headers: { authorization } })
        assertProblem(called, unauthorized(detail), authorization)
        assert.equal(called.text.includes(token), false, 'the token must not be echoed')
      }
    })

    test('refuses a token with any part changed', async () => {
      const token = await service.tokenOf(acme)
      const [head = '', claims = '', signature = ''] = token.split('.')
      const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
      const widened = {
        ...JSON.parse(Buffer.from(claims, 'base64url').toString()),
        sub: 'borealis',
      }
      const forged = Buffer.from(JSON.stringify(widened)).toString('base64url')
      const changed = [
        `${head}.${forged}.${signature}`,
        `${none}.${claims}.`,
        `${none}.${claims}.${signature}`,
        `${head}.${claims}.${signature.slice(0, -4)}AAAA`,
        `${head}.${claims}.`,
        `${head}.${claims}`,
        `${token}=`,
        `${token}.x`,
        token.toLowerCase(),
      ]
      for (const bad of changed) {
        assertProblem(await call(path, { token: bad }), unauthorized(badToken), bad)
      }
    })

    test('refuses a token that has every scope except its own', async () => {
      const others = customerScopes.filter((scope) => scope !== operation.scope)
      const called = await call(path, {
        token: await service.tokenOf(acme, others.join(' ')),
      })
      assertProblem(called, forbidden(others.join(' ')))
    })

    test('refuses a scope that only resembles its own', async () => {
      const scope = String(operation.scope)
      const others = [
        scope.slice(0, -1),
        `${scope}s`,
        scope.toUpperCase(),
        scope.split(':')[1] ?? '',
        `${scope.split(':')[0]}:*`,
        '*',
        scope.replace(/read|write/, (verb) => (verb === 'read' ? 'write' : 'read')),
      ]
      for (const other of others) {
        const called = await call(path, { token: await signToken([other]) })
        assertProblem(called, forbidden(other), other)
      }
    })

    test('checks path and method first, then the token, then the scope, then the request', async () => {
      const bad = operation.path.endsWith('/:id')
        ? instance.replace(/[^/]+$/, 'x')
        : `${instance}?limit=0`
      const body = operation.body !== undefined ? { body: '[]' } : {}
      const others = customerScopes.filter((scope) => scope !== operation.scope)
      const lacking = await service.tokenOf(acme, others.join(' '))
      const wrongMethod = await call(bad, { as: null, method: 'PUT' })
      assert.equal(wrongMethod.status, 405)
      assert.equal((await call(bad, { as: null, ...body })).status, 401)
      assert.equal((await call(bad, { token: lacking, ...body })).status, 403)
      assert.equal((await call(bad, body)).status, 400)
      const nowhere = await call(`${operation.path}/nothing/here`, { as: null })
      assert.equal(nowhere.status, 404)
    })
  })
}

test('accepts the scheme in any case and several spaces before the token', async () => {
  const token = await service.tokenOf(acme)
  for (const authorization of [`bearer ${token}`, `BEARER ${token}`, `Bearer   ${token}`]) {
    const called = await service.call('/v2/transfer/fiat-accounts?limit=1', {
      as: null,
      headers: { authorization },
    })
    assert.equal(called.status, 200, authorization)
  }
})

test('answers every list of a customer without records with an empty page', async () => {
  const newcomer = {
    customerId: 'newcomer',
    clientId: 'newcomer',
    clientSecret: 'newcomer_secret',
  }
  await addCustomerClient(service, newcomer)
  for (const list of lists) {
    const called = await service.call(pathOf(list, [], 'newcomer'), { as: newcomer })
    assert.deepEqual([called.status, called.body], [200, { [list.envelope]: [] }], list.id)
  }
})

test('refuses a token from the second in which it expires', async () => {
  const token = await signToken(['transfer:read_fiat_account'], { id: 'expiring' })
  const { oauth } = service.parts
  const statusAfter = async (seconds: bigint) => {
    aheadSeconds += seconds
    await oauth.refresh()
    return service.call('/v2/transfer/fiat-accounts?limit=1', { token })
  }
  assert.equal((await statusAfter(899n)).status, 200)
  const called = await statusAfter(1n)
  assertProblem(called, {
    status: 401,
    detail: 'the access token has expired; get a new one',
    instance: '/v2/transfer/fiat-accounts',
    headers: {
      'www-authenticate':
        'Bearer error="invalid_token", error_description="the access token has expired"',
    },
  })
})
