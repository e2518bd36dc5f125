import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { limitNamed, openTimeSlices, paceOf } from '@bursar/base'
import { describeService } from '../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { openTestStore, resourceOf, rules } from '../../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { untilHolds } from '../../../../test/support/until.ts'
import { importEntries } from '../../src/files/import-file.ts'
import { readNdjson } from '../../src/files/reading/lines.ts'
import { requestReading } from '../../src/files/reading/request-reading.ts'

let token: string

const service = describeService({}, async () => {
  token = await operatorToken(service, 'core', [
    'ingest:write_fiat_accounts',
    'ingest:write_statements',
    'ingest:read_record',
  ])
})

type Options = { readonly headers?: Readonly<Record<string, string>>; readonly token?: string }

const post = (body: string | Uint8Array, { headers = {}, ...options }: Options = {}, query = '') =>
  service.call(`/ingest/v1/fiat-accounts${query}`, {
    token,
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
    ...options,
  })

/** A request whose body is longer than what is sent of it, unless a length is given. */
function openPost(text = linesOf(accounts(3700, 3000)), length = text.length + 1000) {
  const { port } = new URL(service.url)
  const head = [
    'POST /ingest/v1/fiat-accounts HTTP/1.1',
    'host: x',
    `authorization: Bearer ${token}`,
    `content-length: ${length}`,
  ]
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  let isSent = false
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`, () => {
    isSent = true
  })
  return {
    isSent: () => isSent,
    // The server takes a large body from its buffers only while it reads the stream.
    isRead: () => isSent && socket.writableLength === 0,
    leave: () => void socket.destroy(),
  }
}

const linesOf = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

const accounts = (first: number, count: number, over: object = {}) =>
  Array.from({ length: count }, (_, at) =>
    aFiatAccount({ id: anId(first + at), customer_id: 'streamed', ...over }),
  )

const countsOf = ({ body }: { body: Record<string, unknown> }) =>
  ['records', 'added', 'changed', 'unchanged'].map((name) => body[name])

describe('a stream of records', () => {
  test('is stored in one transaction, and the counts are answered', async () => {
    const first = await post(linesOf(accounts(1000, 500)))
    assert.equal(first.status, 200, first.text)
    assert.deepEqual(countsOf(first), [500, 500, 0, 0])
    assert.match(first.body.sha256, /^[0-9a-f]{64}$/)
    const next = [...accounts(1000, 100, { status: 'APPROVED' }), ...accounts(1100, 450)]
    assert.deepEqual(countsOf(await post(linesOf(next))), [550, 50, 100, 400])
  })

  test('is answered with what is odd about its values, which are stored', async () => {
    const [account] = accounts(2600, 1)
    const metadata = { note: ' #REF!', tabbed: 'a\tb' }
    const text = linesOf([{ ...account, account_id: '1234567890123450', metadata }])
    const { status, body } = await post(text)
    assert.deepEqual([status, body.added, body.warning_count], [200, 1, 3])
    assert.deepEqual(body.warnings, [
      {
        line: 1,
        member: 'account_id',
        reason: 'has only zeros after its fifteenth digit, as spreadsheets write',
      },
      { line: 1, member: 'metadata.note', reason: 'begins or ends with a blank' },
      { line: 1, member: 'metadata.tabbed', reason: 'has the invisible character U+0009' },
    ])
  })

  test('may be compressed with gzip', async () => {
    const text = linesOf(accounts(2000, 300))
    const stored = await post(gzipSync(text), { headers: { 'content-encoding': 'gzip' } })
    assert.deepEqual(countsOf(stored), [300, 300, 0, 0])
    const broken = gzipSync(text).subarray(0, 500)
    const refused = await post(broken, { headers: { 'content-encoding': 'gzip' } })
    assert.deepEqual(
      [refused.status, refused.body.detail],
      [400, 'body is not whole as gzip; was it cut off?'],
    )
    const other = await post('x', { headers: { 'content-encoding': 'br' } })
    assert.deepEqual(
      [other.status, other.body.detail],
      [415, 'the only Content-Encoding of a stream is gzip'],
    )
  })

  test('that unpacks to too much is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))
    const { status, body } = await post(bomb, { headers: { 'content-encoding': 'gzip' } })
    assert.equal(status, 400)
    assert.match(body.detail, /decompresses to more than 200 times its size|longer than a record/)
  })

  test('changes nothing if one record has a fault, and names line, member and reason', async () => {
    const good = accounts(3000, 3)
    const text = `${linesOf(good)}{"id":"x"}\nnot json\n`
    const { status, body } = await post(text)
    assert.equal(status, 400)
    assert.ok(body.meta.fault_count >= 3)
    const lines = new Set(body.meta.errors.map(({ line }: { line: number }) => line))
    assert.deepEqual([...lines], [4, 5])
    assert.match(body.detail, /^line 4: /)
    const missing = await service.call(`/ingest/v1/fiat-accounts/${anId(3000)}`, { token })
    assert.equal(missing.status, 404)
  })

  test('that only conflicts with what is stored is 409, as one record is', async () => {
    const stored = accounts(3500, 2, { source_version: 2 })
    assert.equal((await post(linesOf(stored))).status, 200)
    const older = accounts(3500, 2, { source_version: 1 })
    const text = linesOf(older)
    const refused = await post(text)
    const reason = 'is older than what is stored; allow_older=true takes it all the same'
    const errorAt = (line: number) => ({ line, member: 'source_version', code: 'older', reason })
    assert.deepEqual(
      [refused.status, refused.body.meta],
      [409, { fault_count: 2, errors: [errorAt(1), errorAt(2)] }],
    )
    const put = await service.call(`/ingest/v1/fiat-accounts/${anId(3500)}`, {
      token,
      method: 'PUT',
      body: JSON.stringify(older[0]),
    })
    const { line: _, ...error } = errorAt(1)
    assert.deepEqual([put.status, put.body.meta], [409, { fault_count: 1, errors: [error] }])
    // A record that is at fault by itself can never be stored, whatever else conflicts.
    assert.equal((await post(`${text}{}\n`)).status, 400)
    assert.deepEqual(countsOf(await post(text, {}, '?allow_older=true')), [2, 0, 2, 0])
  })

  test('ends at 100 faults, and the answer says that there may be more', async () => {
    const { status, body } = await post('{}\n'.repeat(100_000))
    const last = body.meta.errors.at(-1).line
    assert.deepEqual([status, body.meta.more, body.meta.errors.length], [400, true, 100])
    assert.ok(body.meta.fault_count < 120, `${body.meta.fault_count} faults were found`)
    assert.ok(last <= 100, `line ${last} was read`)
    assert.match(body.detail, /; meta.errors has the first 100 faults, and there may be more$/)
  })

  test('is compared with stored records beside its faults', async () => {
    await post(linesOf(accounts(3100, 1)))
    const clash = linesOf(accounts(3100, 1, { customer_id: 'another' }))
    const small = await post(`${clash}1\n`)
    assert.deepEqual([small.body.meta.fault_count, small.body.meta.more], [2, undefined])
    const large = await post(`${clash}${linesOf(accounts(3200, 300))}1\n`)
    assert.deepEqual([large.body.meta.fault_count, large.body.meta.more], [2, undefined])
  })

  test('ends with its client, and nothing of it is stored', async () => {
    const slow = [openPost(), openPost()]
    await untilHolds('both streams are read', () => slow.every(({ isRead }) => isRead()))
    for (const { leave } of slow) leave()
    assert.deepEqual(countsOf(await post(linesOf(accounts(3600, 1)))), [1, 1, 0, 0])
    const missing = await service.call(`/ingest/v1/fiat-accounts/${anId(3700)}`, { token })
    assert.equal(missing.status, 404)
  })

  test('holds up no other one of its client while it is sent', async () => {
    const slow = Array.from({ length: limitNamed('streamsHeldPerClientMax') - 1 }, () => openPost())
    await untilHolds('all are read', () => slow.every(({ isRead }) => isRead()))
    assert.deepEqual(countsOf(await post(linesOf(accounts(3650, 1)))), [1, 1, 0, 0])
    for (const { leave } of slow) leave()
  })

  test('of one client is not held up by 36 of another', async () => {
    const dripping = Array.from({ length: 36 }, () => openPost(' ', 100_000))
    await untilHolds('all are sent', () => dripping.every(({ isSent }) => isSent()))
    await service.call('/healthz')
    const other = await operatorToken(service, 'prompt', ['ingest:write_fiat_accounts'])
    const stored = await post(linesOf(accounts(4100, 1)), { token: other })
    assert.deepEqual(countsOf(stored), [1, 1, 0, 0], stored.text)
    const refused = await post(linesOf(accounts(4200, 1)))
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1'])
    for (const { leave } of dripping) leave()
    const name = 'the client may send streams again'
    await untilHolds(name, async () => (await post('')).status === 200)
  })

  test('that is ended while it is read stores nothing', async () => {
    const tested = await openTestStore()
    try {
      const left = new AbortController()
      const slices = openTimeSlices()
      const lines = async function* () {
        for (let at = 0; at < 1000; at += 1) {
          if (at === 700) left.abort(new Error('the caller has left'))
          yield Buffer.from(linesOf(accounts(4300 + at, 1)))
        }
      }
      let read = 0
      const entries = async function* () {
        for await (const entry of readNdjson(
          lines(),
          requestReading(paceOf(slices, left.signal)),
        )) {
          read += 1
          yield entry
        }
      }
      const options = { dryRun: false, allowOlder: false, rules, signal: left.signal }
      const imported = importEntries(tested.store, resourceOf('fiat-accounts'), entries(), options)
      await assert.rejects(imported, { message: 'the caller has left' })
      assert.deepEqual([read, await tested.exported('fiat-accounts')], [700, []])
    } finally {
      await tested.close()
    }
  })

  test('is empty without a fault', async () => {
    assert.deepEqual(countsOf(await post('')), [0, 0, 0, 0])
  })

  test('is refused to a stranger before it is read', async () => {
    const { status } = await post(linesOf(accounts(4000, 2000)), { token: 'no-token' })
    assert.equal(status, 401)
  })
})

const sentBefore = 'this Idempotency-Key was sent with another request before; take a new one'

describe('an idempotency key', () => {
  test('gets the same answer for the same bytes, and 422 for others', async () => {
    const headers = { 'idempotency-key': 'file-1' }
    const text = linesOf(accounts(5000, 10))
    const first = await post(text, { headers })
    assert.deepEqual(countsOf(first), [10, 10, 0, 0])
    const again = await post(text, { headers })
    assert.deepEqual([again.status, again.body], [200, first.body])
    const absolute = await rawRequest(service.url, `${service.url}/ingest/v1/fiat-accounts`, {
      method: 'POST',
      headers: [
        'authorization',
        `Bearer ${token}`,
        'content-type',
        'application/x-ndjson',
        ...Object.entries(headers).flat(),
      ],
      body: text,
    })
    assert.deepEqual([absolute.status, JSON.parse(absolute.text)], [200, first.body])
    const other = await post(linesOf(accounts(5100, 1)), { headers })
    assert.equal(other.status, 422)
    const missing = await service.call(`/ingest/v1/fiat-accounts/${anId(5100)}`, { token })
    assert.equal(missing.status, 404, 'the other bytes are not stored')
  })

  test('does not keep a refusal, because the stream may succeed later', async () => {
    const headers = { 'idempotency-key': 'file-2' }
    await post(linesOf(accounts(5200, 1, { updated_at: '2026-05-01T00:00:00Z' })))
    const older = linesOf(accounts(5200, 2, { updated_at: '2026-04-01T00:00:00Z' }))
    assert.equal((await post(older, { headers })).status, 409)
    const stored = await post(older, { headers }, '?allow_older=true')
    assert.deepEqual([stored.status, countsOf(stored)], [200, [2, 1, 1, 0]], stored.text)
  })

  test('confirms nothing for another kind or query with the same bytes', async () => {
    const headers = { 'idempotency-key': 'file-4' }
    const text = linesOf(accounts(5300, 1))
    assert.deepEqual(countsOf(await post(text, { headers })), [1, 1, 0, 0])
    const query = await post(text, { headers }, '?allow_older=true')
    assert.deepEqual([query.status, query.body.detail], [422, sentBefore])
    const kind = await service.call('/ingest/v1/statements', {
      token,
      method: 'POST',
      body: text,
      headers,
    })
    assert.deepEqual([kind.status, kind.body.detail], [422, sentBefore])
  })

  test('of requests at the same time, one stores, and the others are told that it runs', async () => {
    const headers = { 'idempotency-key': 'file-3' }
    const text = linesOf(accounts(6000, 20))
    const answers = await Promise.all([1, 2, 3].map(() => post(text, { headers })))
    const stored = answers.filter(({ status }) => status === 200)
    assert.ok(stored.length > 0)
    for (const answer of stored) assert.deepEqual(countsOf(answer), [20, 20, 0, 0], answer.text)
    const others = answers.filter(({ status }) => status !== 200)
    for (const { status, body } of others) {
      assert.deepEqual(
        [status, body.detail],
        [409, 'a request with this Idempotency-Key still runs'],
      )
    }
    assert.deepEqual(countsOf(await post(text, { headers })), [20, 20, 0, 0])
  })

  test('is refused for other bytes, whatever they are', async () => {
    const headers = { 'idempotency-key': 'file-1' }
    const { status } = await post(gzipSync('not text').subarray(0, 20), { headers })
    assert.equal(status, 422)
  })

  test('belongs to its client', async () => {
    const headers = { 'idempotency-key': 'file-1' }
    const other = await operatorToken(service, 'other', ['ingest:write_fiat_accounts'])
    const stored = await post(linesOf(accounts(7000, 1)), { headers, token: other })
    assert.deepEqual(countsOf(stored), [1, 1, 0, 0])
  })

  test('must have its form', async () => {
    const { status, body } = await post('', { headers: { 'idempotency-key': 'a b' } })
    assert.equal(status, 400)
    assert.match(body.detail, /^Idempotency-Key must be/)
  })
})
