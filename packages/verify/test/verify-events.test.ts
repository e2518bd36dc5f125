import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { operatorScopes, recordKinds } from '@bursar/contract'
import { acme, borealis } from '../../../test/support/harness.ts'
import { operatorToken } from '../../../test/support/operator-token.ts'
import { anId, samples } from '../../../test/support/records.ts'
import { describeSandbox, ndjson } from '../../../test/support/sandbox-control.ts'
import type { SampleCustomer } from '../../sandbox/src/sample-records.ts'
import { verifyTarget } from '../src/verify-target.ts'
import { fetchOf, recordAnswers, type Wrong, wronged } from './support/wrong-server.ts'
import { isToken, problem, withHeader } from './support/wrong-servers/mutations.ts'

/** Targets that the statements about events cannot be checked on, or only in part. */

const sandbox = describeSandbox()

async function verify(customer: SampleCustomer, wrong: Wrong = {}) {
  const { clientId: id, clientSecret: secret } = customer
  const results = await verifyTarget({
    target: sandbox.url,
    tokenUrl: `${sandbox.url}/oauth2/token`,
    client: { id, secret },
    otherClient: { id: borealis.clientId, secret: borealis.clientSecret },
    allowFees: false,
    only: ['events', 'past'],
    fetch: fetchOf(wronged(recordAnswers(sandbox.url).forRun(), wrong)),
  })
  const of = (verdict: string) => results.filter((one) => one.verdict === verdict)
  const ids = (verdict: string) => of(verdict).map((one) => one.id)
  assert.deepEqual(of('broken'), [])
  return {
    held: ids('held'),
    notTestable: ids('not testable'),
    notes: [...new Set(of('not testable').flatMap(({ notes }) => notes))],
  }
}

const everyEvents = (ids: readonly string[]) => ids.filter((id) => id.startsWith('events.')).length
const everyPast = (ids: readonly string[]) => ids.filter((id) => id.startsWith('past.')).length

test('statements about events hold for records that were changed and withdrawn', async () => {
  const customer = await sandbox.customer({ records: 'sample' })
  const { customerId: customer_id } = customer
  const token = await operatorToken(sandbox, 'core', operatorScopes)
  for (const kind of recordKinds) {
    const path = `/sandbox/records/${kind}`
    const record = samples[kind]({ id: anId(7), customer_id })
    for (const ref_id of ['first', 'second']) {
      const put = await sandbox.control('PUT', path, ndjson({ ...record, ref_id }))
      assert.equal(put.status, 200, put.text)
    }
    // A sandbox would remove it from the past too.
    const gone = await sandbox.call(`/ingest/v1/${kind}/${anId(7)}`, { method: 'DELETE', token })
    assert.ok(gone.status < 300, gone.text)
  }
  const { held, notTestable } = await verify(customer)
  assert.deepEqual([everyEvents(held), everyPast(held), notTestable], [14, 5, []])
})

describe('statements about events are not testable, and not broken, for', () => {
  test('a customer without records', async () => {
    const { held, notes } = await verify(await sandbox.customer())
    assert.deepEqual(held, ['events.page', 'events.limit', 'events.wait', 'past.future'])
    assert.deepEqual(notes.toSorted(), [
      'it has no record',
      'no event is about it',
      'there is no event',
    ])
  })

  test('a client without the scope of events', async () => {
    const wrong: Wrong = {
      request: (asked) =>
        isToken(asked) && !asked.body.includes('scope=')
          ? { body: `${asked.body}&scope=transfer:read_fiat_account` }
          : {},
    }
    const { held, notTestable, notes } = await verify(acme, wrong)
    assert.equal(everyEvents(held), 0)
    assert.equal(everyEvents(notTestable), 14)
    assert.ok(notes.includes('the client does not have the scope events:read_event'))
  })

  test('a client whose endpoint names no scopes and that may not read events', async () => {
    const wrong: Wrong = {
      answer: ({ text }, asked) => {
        if (isToken(asked)) return { text: text.replace(/,"scope":"[^"]*"/, '') }
        return asked.url.pathname.startsWith('/v2/events') ? problem(403, asked) : {}
      },
    }
    const { held, notes } = await verify(acme, wrong)
    assert.equal(everyEvents(held), 0)
    assert.ok(notes.includes('events answer HTTP 403'), notes.join())
  })

  test('a server without events', async () => {
    const wrong: Wrong = {
      answer: (_, asked) =>
        asked.url.pathname.startsWith('/v2/events') ? problem(404, asked) : {},
    }
    const { held, notes } = await verify(acme, wrong)
    assert.deepEqual(held, ['past.future', 'past.unknown'])
    assert.deepEqual(notes, ['the target has no events'])
  })

  test('a server that ignores as_of and says so', async () => {
    const wrong: Wrong = {
      request: (asked) => {
        const url = new URL(asked.url)
        url.searchParams.delete('as_of')
        return { url }
      },
      answer: ({ headers }) => ({ headers: withHeader(headers, 'x-ignored-parameters', 'as_of') }),
    }
    const { held, notTestable, notes } = await verify(acme, wrong)
    assert.deepEqual([everyPast(held), everyPast(notTestable)], [0, 5])
    assert.ok(notes.includes('the target does not take as_of'))
  })
})
