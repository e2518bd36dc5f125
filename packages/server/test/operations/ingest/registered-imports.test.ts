import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { attempt } from '@bursar/base'
import { assertProblem } from '../../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { aFiatAccount, anId, aStatement } from '../../../../../test/support/records.ts'
import { untilHolds } from '../../../../../test/support/until.ts'
import { writersOf } from '../../../../../test/support/writer-processes.ts'

const writes = ['ingest:write_fiat_accounts', 'ingest:write_statements']
const scopes = [...writes, 'ingest:read_imports', 'ingest:cancel_import']

let core: string
let branch: string
let other: string

const service = describeService({}, async () => {
  core = await operatorToken(service, 'core', scopes)
  branch = await operatorToken(service, 'branch', scopes, 'newco')
  other = await operatorToken(service, 'other', scopes, 'otherco')
})

const call = (path: string, method = 'GET', token = core) =>
  service.call(`/ingest/v1/imports${path}`, { token, method })

const listed = async (query = '', token = core) => {
  const answer = await call(query, 'GET', token)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.imports
}

const lines = (first: number, count: number, over: object = {}) =>
  Array.from(
    { length: count },
    (_, at) =>
      `${JSON.stringify(aFiatAccount({ id: anId(first + at), customer_id: 'newco', ...over }))}\n`,
  ).join('')

type Posting = { readonly token?: string; readonly headers?: Readonly<Record<string, string>> }

const post = (body: string, { token = core, headers = {} }: Posting = {}, kind = 'fiat-accounts') =>
  service.call(`/ingest/v1/${kind}`, { token, method: 'POST', body, headers })

/** Stops the processes of streams, so that what is sent stays as it is. */
async function stopWriters(count: number): Promise<() => void> {
  const stopped: number[] = []
  await untilHolds('the processes of streams are stopped', () => {
    for (const pid of writersOf()) {
      if (stopped.includes(pid)) continue
      process.kill(pid, 'SIGSTOP')
      stopped.push(pid)
    }
    return stopped.length === count
  })
  return () => {
    for (const pid of stopped) attempt(() => process.kill(pid, 'SIGCONT'))
  }
}

/** The newest import, once it is as a test needs it. */
async function newest(holds: (found: Record<string, unknown>) => boolean, token = core) {
  let found: Record<string, unknown> = {}
  const isSo = async () => {
    ;[found] = await listed('?limit=1', token)
    return found !== undefined && holds(found)
  }
  await untilHolds('the newest import is so', isSo)
  return found
}

const timeless = ({ id, started_at, ended_at, ...rest }: Record<string, unknown>) => {
  assert.ok(String(started_at) <= String(ended_at))
  assert.match(String(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  return rest
}

describe('the list of imports', () => {
  test('has a stream while it runs, and what became of it', async () => {
    await post(lines(99, 1))
    const goOn = await stopWriters(1)
    const answer = post(lines(100, 3))
    const found = await newest(({ state }) => state === 'running')
    const { id, started_at, ...running } = found
    const shown = { kind: 'fiat-accounts', command: 'POST', client_id: 'core', state: 'running' }
    assert.deepEqual(running, shown)
    goOn()
    assert.equal((await answer).status, 200)
    const [stored] = await listed('?limit=1')
    assert.deepEqual([stored.id, stored.started_at], [id, started_at])
    const counts = { added: 3, changed: 0, unchanged: 0, rejected: 0, withdrawn: 0 }
    assert.deepEqual(timeless(stored), { ...shown, state: 'stored', records: 3, ...counts })
    assert.deepEqual((await call(`/${String(id).toUpperCase()}`)).body, stored)
  })

  test('says why a stream stored nothing, and quotes nothing of its records', async () => {
    const secret = 'SECRET-MEMBER'
    const first = lines(200, 1)
    const refused = await post(`${first}{"${secret}":"${secret}"}\n`)
    assert.equal(refused.status, 400)
    const [{ state, reason }] = await listed('?limit=1')
    assert.equal(state, 'refused')
    assert.match(reason, /^\d+ faults; the first in line 2: [a-z_]+$/)
    const text = JSON.stringify(await listed())
    assert.doesNotMatch(text, new RegExp(secret))
  })

  test('says that nothing is stored of a stream whose client has left', async () => {
    const leaving = new AbortController()
    const goOn = await stopWriters(1)
    const answer = fetch(`${service.url}/ingest/v1/fiat-accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${core}` },
      body: lines(250, 1),
      signal: leaving.signal,
    })
    await newest(({ state }) => state === 'running')
    leaving.abort()
    await assert.rejects(answer)
    const { reason } = await newest(({ state }) => state === 'refused')
    assert.equal(reason, 'the caller has left')
    goOn()
  })

  test('has one row for requests with one idempotency key', async () => {
    const key = { headers: { 'idempotency-key': 'registered' } }
    const before = (await listed('?limit=1000')).length
    for (const [body, status] of [
      [lines(300, 1), 200],
      [lines(300, 1), 200],
      [lines(301, 1), 422],
    ] as const) {
      const answer = await post(body, key)
      assert.equal(answer.status, status, answer.text)
      assert.equal((await listed('?limit=1000')).length, before + 1)
    }
  })

  test('has the newest first, in pages that keep their filters', async () => {
    const statement = { id: anId(400), customer_id: 'newco' }
    for (const at of [0, 1, 2]) {
      await post(lines(400 + at, 1))
      await post(`${JSON.stringify(aStatement(statement))}\n`, {}, 'statements')
    }
    const ids: string[] = []
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const path: string = `?kind=statements&state=stored&limit=2&page_cursor=${cursor}`
      const { body } = await call(path)
      for (const { id, kind, state } of body.imports) {
        assert.deepEqual([kind, state], ['statements', 'stored'])
        ids.push(id)
      }
      cursor = body.next_page_cursor
    }
    assert.equal(ids.length, 3)
    assert.deepEqual(ids, ids.toSorted().toReversed())
    const all = (await listed('?limit=1000')).map(({ id }: { id: string }) => id)
    assert.deepEqual(all, all.toSorted().toReversed())
    const { body: first } = await call('?kind=statements&limit=2')
    const foreign = `?kind=fiat-accounts&limit=2&page_cursor=${first.next_page_cursor}`
    assert.equal((await call(foreign)).body.meta.errors[0].code, 'other_filters')
    const withToken = `?kind=statements&limit=2&page_cursor=${first.next_page_cursor}`
    assert.equal((await call(withToken, 'GET', branch)).status, 400)
  })

  test('of a bound client has the imports of clients of its customer, and no files', async () => {
    await post(lines(500, 1), { token: branch })
    await post(lines(501, 1))
    const file = await service.parts.store.imports.begin({
      kind: 'statements',
      importer: { user: 'ada', sudoUser: undefined, file: 'newco.ndjson', files: 1 },
      boundTo: 'newco',
    })
    const seen = await listed('', branch)
    assert.deepEqual(
      seen.map(({ client_id, customer_id }: Record<string, unknown>) => [client_id, customer_id]),
      [['branch', 'newco']],
    )
    assert.deepEqual(await listed('', other), [])
    const own = seen[0].id
    for (const [id, token] of [
      [own, other],
      [file.row.id, branch],
    ] as const) {
      for (const method of ['GET', 'DELETE']) {
        assertProblem(await call(`/${id}`, method, token), {
          status: 404,
          detail: `no import found for id: '${id}'`,
          instance: `/ingest/v1/imports/${id}`,
        })
      }
    }
    assert.equal(file.signal.aborted, false)
    await file.fail({ state: 'refused', reason: 'over' })
  })

  test('needs its scope, which no customer can have', async () => {
    const token = await operatorToken(service, 'canceller', ['ingest:cancel_import'])
    assert.equal((await call('', 'GET', token)).status, 403)
    const reader = await operatorToken(service, 'reader', ['ingest:read_imports'])
    assert.equal((await call(`/${anId(1)}`, 'DELETE', reader)).status, 403)
    assert.equal((await service.call('/ingest/v1/imports')).status, 403)
  })
})

describe('a cancelled stream', () => {
  test('ends at once, stores nothing and says so', async () => {
    await post(lines(599, 1))
    const goOn = await stopWriters(1)
    const sent = post(lines(600, 2), { token: branch })
    const { id } = await newest(({ state }) => state === 'running', branch)
    const asked = await call(`/${id}`, 'DELETE', branch)
    assert.equal(asked.status, 202, asked.text)
    assert.equal(asked.body.id, id)
    // The answer may already tell of the end.
    assert.match(asked.body.state, /^(running|cancelled)$/)
    assert.equal(typeof asked.body.cancel_requested_at, 'string')
    const answer = await sent
    goOn()
    assert.equal(answer.status, 409)
    assert.equal(answer.body.detail, `the import ${id} was cancelled; nothing was stored`)
    const { body } = await call(`/${id}`)
    assert.deepEqual(
      [body.state, body.reason, body.cancel_requested_at],
      [
        'cancelled',
        'the import was cancelled; nothing was changed',
        asked.body.cancel_requested_at,
      ],
    )
    const late = await call(`/${id}`, 'DELETE', branch)
    assertProblem(late, {
      status: 409,
      detail: 'the import has ended: it is cancelled',
      instance: `/ingest/v1/imports/${id}`,
      meta: { state: 'cancelled' },
    })
    const reader = await operatorToken(service, 'reads', ['ingest:read_record'])
    const record = await service.call(`/ingest/v1/fiat-accounts/${anId(600)}`, { token: reader })
    assert.equal(record.status, 404)
  })

  test('that waits for a slot ends too', async () => {
    await post(lines(700, 1))
    const running = [701, 702].map((first) => post(lines(first, 1)))
    const goOn = await stopWriters(2)
    const waiting = post(lines(703, 1))
    await untilHolds('three streams run', async () => (await listed('?state=running')).length === 3)
    const [{ id }] = await listed('?limit=1')
    assert.equal((await call(`/${id}`, 'DELETE')).status, 202)
    assert.equal((await waiting).status, 409)
    goOn()
    for (const stream of running) assert.equal((await stream).status, 200)
  })

  test('is unknown by another id', async () => {
    assert.equal((await call(`/${anId(1)}`, 'DELETE')).status, 404)
    assert.equal((await call('/7', 'DELETE')).body.detail, "id must be uuid, given '7'")
  })
})
