import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemTime } from '@bursar/base'
import { describeService } from '../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'

/** A clock that stands, so that a tag can differ only by what else it is made of. */
const NOW = systemTime.now()

const tokens: string[] = []
const scopes = ['ingest:write_fiat_accounts', 'ingest:read_record']
const services = [0, 1].map((at) =>
  describeService({ clock: () => NOW }, async (service) => {
    tokens[at] = await operatorToken(service, 'core', scopes)
  }),
)

const account = (number: string) =>
  aFiatAccount({
    id: anId(1),
    customer_id: 'newco',
    fiat_network_instructions: { scb: { account_number: number } },
  })

const call = (at: number, method: string, body?: object, headers = {}) =>
  services[at]?.call(`/ingest/v1/fiat-accounts/${anId(1)}`, {
    token: tokens[at] ?? '',
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })

const tagOf = async (...request: Parameters<typeof call>) =>
  (await call(...request))?.headers.get('etag')

describe('the entity tag of a version', () => {
  test('has a secret of the customer, so no content can be found by trying', async () => {
    const one = await tagOf(0, 'PUT', account('11112222333344'))
    const other = await tagOf(1, 'PUT', account('11112222333344'))
    assert.match(one ?? '', /^"[0-9a-f]{32}"$/)
    assert.notEqual(one, other)
    assert.equal(await tagOf(0, 'PUT', account('99990000111122'), { 'if-match': '"x"' }), one)
    assert.equal(await tagOf(1, 'GET'), other)
    assert.notEqual(await tagOf(0, 'DELETE'), one)
  })

  test('is another one for each version, even while the clock stands', async () => {
    const tags: (string | null | undefined)[] = []
    for (const number of ['10000000000001', '10000000000002', '10000000000001']) {
      tags.push(await tagOf(0, 'PUT', account(number)))
    }
    assert.equal(new Set(tags).size, 3)
    assert.equal(await tagOf(0, 'PUT', account('10000000000001')), tags[2])
    const held = { 'if-match': tags[1] ?? '' }
    assert.equal((await call(0, 'PUT', account('10000000000003'), held))?.status, 412)
    const current = { 'if-match': tags[2] ?? '' }
    assert.equal((await call(0, 'PUT', account('10000000000003'), current))?.status, 200)
  })
})
