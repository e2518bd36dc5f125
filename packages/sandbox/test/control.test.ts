import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { limitNamed, openLog, systemTime } from '@bursar/base'
import { sandboxOperations } from '@bursar/contract'
import { startService } from '@bursar/server'
import { createStore } from '@bursar/server/stores'
import { Validator } from '@seriousme/openapi-schema-validator'
import { configOf, fetchToken, openPlace } from '../../../test/support/harness.ts'
import { rawRequest } from '../../../test/support/raw-request.ts'
import { describeSandbox } from '../../../test/support/sandbox-control.ts'
import { openCustomers } from '../src/control/control-customers.ts'
import { openRequests } from '../src/control/control-requests.ts'
import { requestLine } from '../src/request-line.ts'

const accounts = '/v2/transfer/fiat-accounts'
const sandbox = describeSandbox()

describe('GET /sandbox/requests', () => {
  test('lists what a customer has sent, newest first, and nothing of others', async () => {
    const [as, neighbour] = [await sandbox.customer(), await sandbox.customer()]
    await sandbox.call(`${accounts}?limits=5&limit=2`, { as })
    await sandbox.call(`${accounts}?limit=0`, { as, headers: { 'x-request-id': 'mine' } })
    await sandbox.call(accounts, { as: neighbour })
    await assert.rejects(fetchToken(sandbox.url, { ...as, clientSecret: 'wrong' }))
    const path = `/sandbox/requests?customer_id=${as.customerId}`
    const { body } = await sandbox.control('GET', path)
    const told = body.requests.map(
      ({ at, duration_ms, request_id, ...rest }: Record<string, unknown>) => {
        assert.ok(typeof at === 'string' && typeof duration_ms === 'number')
        assert.ok(typeof request_id === 'string')
        return rest
      },
    )
    const read = { operation: 'listFiatAccounts', method: 'GET', client_id: as.clientId }
    const token = { operation: '/oauth2/token', method: 'POST' }
    assert.deepEqual(told, [
      { ...token, status: 401, problem: 'Unauthorized' },
      { ...read, status: 400, problem: 'Bad Request' },
      { ...read, status: 200, ignored_parameters: ['limits'] },
      { ...token, status: 200 },
    ])
    assert.equal(body.requests[1].request_id, 'mine')
  })

  test('lists a request that was cut, once', async () => {
    const as = await sandbox.customer()
    const path = `/sandbox/requests?customer_id=${as.customerId}`
    const token = await sandbox.tokenOf(as)
    const fault = { customer_id: as.customerId, kind: 'cut' }
    await sandbox.control('POST', '/sandbox/faults', fault)
    await assert.rejects(sandbox.call(accounts, { token }))
    const first = (await sandbox.control('GET', path)).body.requests
    assert.deepEqual(
      first.map((one: Record<string, unknown>) => [one.operation, one.fault]),
      [
        ['listFiatAccounts', 'cut'],
        ['/oauth2/token', undefined],
      ],
    )
  })

  test('keeps the last 1,000 requests of each customer', async () => {
    const customers = await openCustomers(sandbox.parts)
    const requests = openRequests(customers, systemTime.now)
    const note = (customer: string, id: number) =>
      requests.note({ trace: { customer }, method: 'GET', status: 200, durationMs: 1, id: `${id}` })
    note('borealis', 0)
    for (let id = 0; id <= limitNamed('sandboxRequestsKept'); id += 1) note('acme', id)
    const list = async (customer: string) =>
      (await requests.list(customer)).map(
        (request) => 'request_id' in request && request.request_id,
      )
    const told = await list('acme')
    assert.deepEqual([told.length, told[0], told.at(-1)], [1000, '1000', '1'])
    assert.deepEqual(await list('borealis'), ['0'])
    requests.forget('acme')
    assert.deepEqual(await list('acme'), [])
  })

  test('needs a customer that exists', async () => {
    const missing = await sandbox.control('GET', '/sandbox/requests')
    assert.deepEqual([missing.status, missing.body.detail], [400, 'customer_id must be set'])
    assert.equal((await sandbox.control('GET', '/sandbox/requests?customer_id=x')).status, 404)
  })
})

describe('a page of another site', () => {
  const send = (headers: readonly string[], method = 'POST') =>
    rawRequest(sandbox.url, '/sandbox/clock', { method, headers, body: '{"real":true}' })

  test('cannot control the sandbox', async () => {
    for (const headers of [
      ['origin', 'https://evil.example'],
      ['origin', 'null'],
      ['origin', 'http://127.0.0.1.evil.example'],
      ['sec-fetch-site', 'cross-site'],
      ['sec-fetch-site', 'same-site'],
    ]) {
      const answer = await send(headers)
      assert.equal(answer.status, 403, headers.join(': '))
      assert.match(answer.text, /check Origin/)
    }
    const reset = await rawRequest(sandbox.url, '/sandbox/reset', {
      method: 'POST',
      headers: ['origin', 'https://evil.example'],
    })
    assert.equal(reset.status, 403)
    assert.equal((await send(['origin', sandbox.url, 'sec-fetch-site', 'same-origin'])).status, 200)
  })

  test('cannot reach it under a public name that points here', async () => {
    const statusFor = (name: string) =>
      new Promise<number>((resolve, reject) => {
        const { port } = new URL(sandbox.url)
        const headers = { host: name }
        request({ host: '127.0.0.1', port, path: '/sandbox/clock', headers }, (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        })
          .on('error', reject)
          .end()
      })
    for (const name of ['evil.example', 'evil.example:8080', '127.0.0.1.evil.example']) {
      assert.equal(await statusFor(name), 403, name)
    }
    for (const name of ['localhost:8080', 'bursar:8080', '[::1]:80', '10.1.2.3', 'a.localhost']) {
      assert.equal(await statusFor(name), 200, name)
    }
  })
})

test('a mistyped parameter or member is refused, since it could reach every worker', async () => {
  const query = await sandbox.control('DELETE', '/sandbox/faults?custmer_id=x')
  assert.deepEqual(
    [query.status, query.body.detail],
    [400, 'custmer_id is unknown here; the parameters are: customer_id'],
  )
  const member = await sandbox.control('POST', '/sandbox/customers', { sed: 'x' })
  assert.deepEqual(
    [member.status, member.body.meta.errors],
    [
      400,
      [
        {
          parameter: 'sed',
          code: 'unknown_name',
          reason: 'is unknown here; the members are seed, records',
        },
      ],
    ],
  )
})

test('a server offers no call that controls a sandbox', async () => {
  const place = await openPlace('sqlite')
  const sources = { config: configOf(place.env), log: openLog('silent'), clock: systemTime.now }
  await createStore(sources)
  const service = await startService(sources)
  for (const { id, method, path } of sandboxOperations) {
    const answer = await rawRequest(service.url, path.replaceAll(/:[a-z]+/g, 'x'), { method })
    assert.equal(answer.status, 404, id)
  }
  assert.equal((await rawRequest(service.url, '/sandbox/openapi.json')).status, 404)
  await service.close()
  await place.remove()
})

test('the sandbox serves a valid document of every call', async () => {
  const { body } = await sandbox.call('/sandbox/openapi.json', { as: null })
  const { valid, errors } = await new Validator().validate(structuredClone(body))
  assert.deepEqual([valid, errors], [true, undefined])
  const told = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const declared = sandboxOperations.map(
    ({ method, path }) => `${method} ${path.replaceAll(/:([a-z]+)/g, '{$1}')}`,
  )
  assert.deepEqual(told.toSorted(), declared.toSorted())
})

test('a line for the terminal names request and answer, without the query', () => {
  const trace = {
    operation: 'listFiatAccounts',
    customer: 'acme',
    problem: 'Bad Request',
    ignoredParameters: ['limits'],
  }
  const served = { trace, id: 'x', method: 'GET', status: 400, durationMs: 1.25 }
  assert.equal(
    requestLine(served, new Date(2026, 0, 31, 9, 5, 7)),
    '09:05:07  400  GET     listFiatAccounts            acme                               1.3 ms  Bad Request  ignored: limits',
  )
})
