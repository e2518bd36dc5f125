import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withBinaryResults } from '../../src/store/postgres/bind-message.ts'
import { type Connection, openConnection } from '../../src/store/postgres/connection.ts'
import { openStallingProxy, type StallingProxy } from '../faults/support/stalling-proxy.ts'
import { addressesOf, openTestDatabase, type TestDatabase } from '../support/test-database.ts'

const bind = Buffer.from('B\0\0\0\x15\0s1\0\0\0\0\x01\0\0\0\x03abc\0\0', 'latin1')
const rest = Buffer.from('E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04', 'latin1')

describe('a Bind message', () => {
  test('asks for every column in binary, and what follows it stays', () => {
    const changed = withBinaryResults(Buffer.concat([bind, rest]))
    const expected = 'B\0\0\0\x17\0s1\0\0\0\0\x01\0\0\0\x03abc\0\x01\0\x01'
    assert.equal(changed.toString('latin1'), expected + rest.toString('latin1'))
  })

  test('is the only one that is changed', () => {
    for (const other of [rest, Buffer.from('\0\0\0\x08\x04\xd2\x16\x2f', 'latin1')]) {
      assert.equal(withBinaryResults(other), other)
    }
  })
})

describe('what is read', () => {
  let database: TestDatabase
  let proxy: StallingProxy
  let session: Connection
  const said: Buffer[] = []

  before(async () => {
    database = await openTestDatabase()
    const [address] = addressesOf(database.url)
    assert.ok(address)
    proxy = await openStallingProxy(address.port, (bytes) => said.push(bytes))
    session = openConnection(
      { ...address, port: proxy.port },
      { parameters: {}, connectTimeoutMs: 5000 },
    )
  })

  after(async () => {
    await session.close()
    proxy.close()
    await database.drop()
  })

  const columns = `repeat('é€😀"', $1::int), null::text, (-5)::text, '\\x00ff'::bytea::text`
  const expected = ['é€😀"'.repeat(3), undefined, '-5', '\\x00ff']
  const formatsOf = () => {
    const messages = Buffer.concat(said.splice(0))
    const at = messages.lastIndexOf(Buffer.from('B\0\0\0'))
    const end = at + 1 + messages.readUInt32BE(at + 1)
    return messages.toString('hex', end - 4, end)
  }

  for (const prepare of [true, false]) {
    const query = { text: `select ${columns}`, values: [3], prepare }

    test(`is asked for in binary and is the same bytes, prepared: ${prepare}`, async () => {
      for (const _ of ['first', 'again']) {
        const [read] = await session.read(query, (rows) =>
          rows.map((row) => row.map((cell) => cell?.toString())),
        )
        assert.deepEqual(read, expected)
        assert.equal(formatsOf(), '00010001')
      }
    })

    test(`leaves other statements of the session as they are, prepared: ${prepare}`, async () => {
      const [row] = await session.query({ ...query, text: 'select $1::int, true' })
      assert.deepEqual(row?.map(String), ['3', 't'])
      assert.notEqual(formatsOf(), '00010001')
    })
  }

  test('must be text in every column, and the session goes on', async () => {
    const query = { text: 'select $1::int', values: [7], prepare: true }
    await assert.rejects(
      session.read(query, (rows) => rows),
      /not text/,
    )
    const [row] = await session.query(query)
    assert.equal(String(row?.[0]), '7')
  })
})
