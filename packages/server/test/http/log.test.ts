import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Program, startProgram } from '../../../../test/support/program.ts'
import { rawRequest, rawSocket } from '../../../../test/support/raw-request.ts'

/** The complete log of a process at level trace, checked after it has ended. */

const secret = 'bursar_sandbox_secret_of_acme'
const basic = Buffer.from(`acme_sandbox:${secret}`).toString('base64')
const accountId = '11111111-1111-4111-8111-111111111111'

type Line = Readonly<Record<string, unknown>>

let program: Program
let log = ''
let lines: readonly Line[]
let token: string
let answers: string
let garbageAnswer: string
const sent: { id: string; operation: string; method: string; status: number }[] = []

before(async () => {
  program = startProgram(['sandbox', '--port', '0', '--json'], { env: { LOG_LEVEL: 'trace' } })
  const { url } = JSON.parse(await program.firstLine)
  answers = await makeRequests(url)
  assert.equal(await program.kill(), 0)
  log = program.errors()
  lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
})
after(() => program.kill('SIGKILL'))

/** Valid and invalid requests with every kind of secret in every place. */
async function makeRequests(url: string): Promise<string> {
  let bodies = ''
  const send = async (
    operation: string,
    path: string,
    {
      method = 'GET',
      headers = [],
      body = '',
    }: { method?: string; headers?: string[]; body?: string },
  ) => {
    const id = `canary-request-${sent.length}`
    const answer = await rawRequest(url, path, {
      method,
      headers: ['x-request-id', id, ...headers],
      ...(body !== '' && { body }),
    })
    sent.push({ id, operation, method, status: answer.status })
    bodies += answer.text
    return answer.text
  }
  const form = ['content-type', 'application/x-www-form-urlencoded']
  const grant = 'grant_type=client_credentials'
  const post = { method: 'POST', headers: [...form, 'authorization', `Basic ${basic}`] }
  token = JSON.parse(
    await send('/oauth2/token', '/oauth2/token', { ...post, body: grant }),
  ).access_token
  const inBody = `${grant}&client_id=acme_sandbox&client_secret=${secret}`
  await send('/oauth2/token', '/oauth2/token', { method: 'POST', headers: form, body: inBody })
  const wrong = `${grant}&client_id=acme_sandbox&client_secret=CANARY_WRONG_SECRET`
  await send('/oauth2/token', '/oauth2/token', { method: 'POST', headers: form, body: wrong })
  await send('/oauth2/introspect', '/oauth2/introspect', { ...post, body: `token=${token}` })

  const bearer = ['authorization', `Bearer ${token}`]
  const get = { headers: [...bearer, 'cookie', 'CANARY_COOKIE=1', 'user-agent', 'CANARY_AGENT'] }
  const account = `/v2/transfer/fiat-accounts/${accountId}`
  const accounts = '/v2/transfer/fiat-accounts'
  await send('getFiatAccount', account, get)
  await send('getFiatAccount', `${accounts}/ffffffff-ffff-4fff-bfff-ffffffffffff`, get)
  await send('getFiatAccount', `${accounts}/CANARY_PATH`, get)
  await send('listFiatAccounts', `${accounts}?ref_ids=CANARY_QUERY&limit=3`, get)
  await send('listFiatAccounts', `${accounts}?limit=CANARY_LIMIT`, get)
  await send('listFiatAccounts', `${accounts}?ref_id=CANARY_QUERY&limit=7`, get)
  await send('listFiatAccounts', `${accounts}?access_token=${token}`, {})
  await send('listFiatAccounts', accounts, { headers: ['authorization', 'Bearer CANARY_TOKEN'] })
  const [header = '', payload = '', signature = ''] = token.split('.')
  const forged = `${header}.${payload}.${[...signature].reverse().join('')}`
  await send('listFiatAccounts', accounts, { headers: ['authorization', `Bearer ${forged}`] })
  const claims = Buffer.from('{"iss":"https://CANARY.example"}').toString('base64url')
  const foreign = `${header}.${claims}.${signature}`
  await send('listFiatAccounts', accounts, { headers: ['authorization', `Bearer ${foreign}`] })
  await send('listFiatAccounts', accounts, { method: 'POST', headers: bearer, body: 'CANARY_BODY' })
  await send('listStatements', '/v2/statements?customer_id=CANARY_CUSTOMER', get)
  await send('listDepositAddresses', '/v2/transfer/deposit-addresses?addresses=CANARY_ADDRESS', get)
  await send('listFiatDepositInstructions', '/v2/transfer/fiat-deposit-instructions?limit=50', get)
  await send('none', '/CANARY_NOWHERE?x=CANARY_QUERY', get)
  await send('none', `${accounts}/%zz?CANARY_QUERY`, get)
  await send('health', '/healthz', {})
  await send('/oauth2/revoke', '/oauth2/revoke', { ...post, body: `token=${token}` })
  garbageAnswer = await rawSocket(url, 'CANARY_GARBAGE\r\n\r\n')
  await rawSocket(url, 'CANARY / HTTP/1.1\r\nhost: x\r\n\r\n')
  const coded = 'host: x\r\ntransfer-encoding: gzip, chunked\r\nconnection: close\r\n\r\n0\r\n\r\n'
  await rawSocket(url, `POST /oauth2/token HTTP/1.1\r\n${coded}`)
  return bodies
}

describe('the log', () => {
  test('is one JSON object a line, with time and level', () => {
    for (const line of lines) {
      assert.match(String(line.time), /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
      assert.match(String(line.level), /^(trace|debug|info|warn|error|fatal)$/)
      assert.equal(typeof line.msg, 'string')
    }
  })

  test('has exactly one line for each request, by its request id', () => {
    for (const { id, operation, method, status } of sent) {
      const [line, ...more] = lines.filter(({ requestId }) => requestId === id)
      assert.ok(line !== undefined, `${method} ${operation} has no line`)
      assert.deepEqual(more, [])
      assert.deepEqual([line.method, line.status], [method, status])
      if (status !== 405) assert.equal(line.operation, operation)
      assert.equal(typeof line.durationMs, 'number')
    }
  })

  test('has a line for bytes that are not HTTP', () => {
    const id = /x-request-id: (\S+)/i.exec(garbageAnswer)?.[1]
    const found = lines.filter(({ requestId }) => requestId === id)
    assert.deepEqual(
      found.map(({ status }) => status),
      [400],
    )
  })

  test('names client, rows and problem, and no other part of a request', () => {
    const known = [
      'level',
      'time',
      'msg',
      'operation',
      'method',
      'client',
      'status',
      'problem',
      'ignoredParameters',
      'rows',
      'durationMs',
      'requestId',
    ]
    const requests = lines.filter((line) => 'requestId' in line)
    const ofRefused = ['address', 'refusal']
    for (const line of requests) {
      const isRefused = line.status === 401 || line.status === 403
      const expected = isRefused ? [...known, ...ofRefused] : known
      assert.deepEqual(
        Object.keys(line).filter((name) => !expected.includes(name)),
        [],
      )
      const refused = Number(line.status) >= 400
      const isOwn = !String(line.operation).startsWith('/oauth2')
      if (isOwn) assert.equal('problem' in line, refused, JSON.stringify(line))
    }
    const page = requests.find((line) => line.operation === 'listFiatDepositInstructions')
    assert.deepEqual([page?.client, page?.rows, page?.status], ['acme_sandbox', 50, 200])
  })

  test('names the caller’s address and the cause where a token is refused', () => {
    const refused = lines.filter((line) => 'refusal' in line)
    assert.deepEqual(
      refused.map(({ refusal, address }) => [refusal, address]),
      [
        ['malformed', '127.0.0.1'],
        ['bad signature', '127.0.0.1'],
        ['unknown issuer', '127.0.0.1'],
      ],
    )
  })

  test('has no error for a method or a coding that a stranger has sent', () => {
    const unknown = lines.filter(({ status }) => status === 501)
    assert.deepEqual(
      unknown.map(({ level }) => level),
      ['info', 'info'],
    )
  })

  test('warns of unknown query parameters by name, in the sandbox', () => {
    const warned = lines.filter((line) => 'ignoredParameters' in line)
    assert.deepEqual(
      warned.map((line) => [line.level, line.rows, line.ignoredParameters]),
      [['warn', 7, ['ref_id']]],
    )
  })

  test('has no secret, no token and no part of a header, a body or a query', () => {
    const hidden = [secret, basic, token, token.split('.')[1] ?? '', token.split('.')[2] ?? '']
    for (const text of [...hidden, 'CANARY', 'limit=', accountId, 'access_token', 'ffffffff']) {
      assert.equal(log.includes(text), false, text)
    }
  })

  test('has no account number, memo, name or reference from an answer', () => {
    const found = answers.matchAll(
      /"(?:account_number|memo_id|first_name|last_name|name|wallet_address|address1|ref_id|id|profile_id|identity_id)":"([^"]{6,})"/g,
    )
    const values = new Set([...found].map(([, value = '']) => value))
    assert.ok(values.size > 100)
    for (const value of values) assert.equal(log.includes(value), false, value)
  })

  test('ends with the start of the shutdown, and the head of the audit log', () => {
    assert.deepEqual(
      lines.slice(-2).map(({ msg }) => msg),
      ['shutting down', 'audit head'],
    )
  })
})
