import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { disableClient, rotateClient } from '../src/clients/clients.ts'
import { acme, acmeBasic, acmeScopes, oauthWorld } from './support/oauth-world.ts'

const [readFiat = '', readStatement = ''] = acmeScopes
const grant = { grant_type: 'client_credentials' }
const posted = { client_id: acme.id, client_secret: acme.secret }

test('issues an RFC 9068 token with no-store', async (t) => {
  const { clock, url, token } = await oauthWorld(t)
  const { status, headers, body } = await token()
  const { access_token, ...rest } = body
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('content-type'), 'application/json')
  assert.deepEqual(rest, { token_type: 'bearer', expires_in: 900, scope: acmeScopes.join(' ') })
  const { kid, ...header } = decodeProtectedHeader(access_token)
  assert.deepEqual(header, { alg: 'ES256', typ: 'at+jwt' })
  assert.match(String(kid), /^key_[0-9a-f]{20}$/)
  const { jti, ...claims } = decodeJwt(access_token)
  const iat = Number(clock() / 1_000_000n)
  assert.deepEqual(claims, {
    iss: url,
    aud: url,
    sub: acme.id,
    client_id: acme.id,
    scope: acmeScopes.join(' '),
    iat,
    exp: iat + 900,
  })
  assert.match(String(jti), /^[0-9a-f-]{36}$/)
})

test('accepts the same credentials by body, by Basic in any encoding, and by multipart', async (t) => {
  const { post, send, token } = await oauthWorld(t)
  const encoded = `Basic ${Buffer.from('client%5Facme:acme%5Fsecret%5F1').toString('base64')}`
  for (const authorization of [acmeBasic, acmeBasic.replace('Basic', 'bAsIc'), encoded]) {
    const { status } = await post('/oauth2/token', grant, { headers: { authorization } })
    assert.equal(status, 200, authorization)
  }
  const named = { headers: { authorization: acmeBasic } }
  assert.equal((await post('/oauth2/token', { ...grant, client_id: acme.id }, named)).status, 200)
  assert.equal((await token()).status, 200)
  const charset = { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' }
  assert.equal((await token({}, { headers: charset })).status, 200)
  const form = new FormData()
  for (const [name, value] of Object.entries({ ...grant, ...posted })) form.append(name, value)
  const multipart = await send('/oauth2/token', { method: 'POST', body: form })
  assert.equal(multipart.body.scope, acmeScopes.join(' '))
})

const scopeCases: readonly (readonly [string, string, string | undefined])[] = [
  ['an empty scope grants everything', '', acmeScopes.join(' ')],
  ['a scope of blanks grants everything', '  ', acmeScopes.join(' ')],
  ['one of the scopes is granted alone', readStatement, readStatement],
  [
    'two are granted in the catalogue’s order',
    `${readStatement} ${readFiat}`,
    acmeScopes.join(' '),
  ],
  ['a repeated one is granted once', `${readFiat} ${readFiat}`, readFiat],
  ['unknown names are dropped', `${readFiat} orders:write other:thing`, readFiat],
  ['a known scope that the client lacks is refused', 'fee:write_crypto_withdrawal_fee', undefined],
  ['also beside one that it has', `${readFiat} fee:write_crypto_withdrawal_fee`, undefined],
  ['only unknown names leave nothing', 'orders:write', undefined],
  ['a name that only begins like a scope is unknown', `${readFiat}s`, undefined],
  ['scopes are told apart by case', readFiat.toUpperCase(), undefined],
  ['names are separated by blanks, not by tabs', `${readFiat}\t${readStatement}`, undefined],
  ['a quote is no part of a name', `${readFiat} "`, undefined],
]

for (const [promise, scope, granted] of scopeCases) {
  test(`scope: ${promise}`, async (t) => {
    const { token } = await oauthWorld(t)
    const { status, body } = await token({ scope })
    if (granted === undefined) assert.deepEqual([status, body.error], [400, 'invalid_scope'])
    else assert.deepEqual([status, body.scope], [200, granted])
  })
}

type Sent = {
  readonly form: Record<string, string> | string
  readonly headers?: Record<string, string>
  readonly query?: string
}

const basic = (pair: string, form: Sent['form'] = grant): Sent => ({
  form,
  headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
})
const asType = (form: string, type: string): Sent => ({ form, headers: { 'content-type': type } })
const whole = { ...grant, ...posted }
const good = new URLSearchParams(whole).toString()

const refusals: Readonly<Record<string, Readonly<Record<string, Sent>>>> = {
  '401 invalid_client': {
    'a wrong secret': { form: { ...whole, client_secret: 'no' } },
    'an unknown client': { form: { ...whole, client_id: 'no' } },
    'no credentials': { form: grant },
    'an id without a secret': { form: { ...grant, client_id: acme.id } },
    'a Basic without a colon': basic('abc'),
    'a Basic that is no base64': { form: grant, headers: { authorization: 'Basic %%%' } },
    'a broken escape in Basic': basic('a%zz:b'),
    'a wrong secret in Basic': basic(`${acme.id}:no`),
    'another scheme': { form: grant, headers: { authorization: 'Bearer abc' } },
    'a body of nothing': { form: '' },
  },
  '400 invalid_request': {
    'Basic and body at once': { form: whole, headers: { authorization: acmeBasic } },
    'Basic and another client_id': basic(`${acme.id}:${acme.secret}`, { ...grant, client_id: 'x' }),
    'a secret and an assertion': { form: { ...whole, client_assertion: 'x' } },
    'a repeated parameter': { form: `${good}&scope=a&scope=b` },
    'a repeated empty parameter': { form: `${good}&x=&x=` },
    'credentials in the query': { form: whole, query: '?client_secret=x' },
    'a grant type in the query': { form: posted, query: '?grant_type=client_credentials' },
    'no grant type': { form: posted },
    'an empty grant type': { form: { ...posted, grant_type: '' } },
    JSON: asType('{"grant_type":"client_credentials"}', 'application/json'),
    'a multipart without boundary': asType(good, 'multipart/form-data'),
    'too many parameters': { form: `${good}${'&a%=1'.repeat(30)}` },
  },
  '400 unsupported_grant_type': {
    'another grant': { form: { ...posted, grant_type: 'password' } },
  },
  '400 invalid_scope': {
    'scopes separated by commas': { form: { ...whole, scope: `${readFiat},${readStatement}` } },
  },
}

for (const [refusal, cases] of Object.entries(refusals)) {
  for (const [promise, { form, headers = {}, query = '' }] of Object.entries(cases)) {
    test(`refuses ${promise} with an RFC 6749 error and no-store`, async (t) => {
      const { post } = await oauthWorld(t)
      const answer = await post('/oauth2/token', form, { headers, query })
      assert.equal(`${answer.status} ${answer.body.error}`, refusal)
      assert.deepEqual(Object.keys(answer.body), ['error', 'error_description'])
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const challenge = answer.headers.get('www-authenticate')
      const isChallenged = answer.status === 401 && headers.authorization !== undefined
      assert.equal(challenge?.startsWith('Basic ') ?? false, isChallenged)
    })
  }
}

test('answers an unknown client, a wrong secret and a disabled client alike', async (t) => {
  const { command, token } = await oauthWorld(t)
  const answers = [
    await token({ client_id: 'client_nobody' }),
    await token({ client_secret: 'wrong' }),
  ]
  await disableClient(command, acme.id)
  answers.push(await token())
  for (const [at, { status, body }] of answers.entries()) {
    assert.equal(status, 401, `answer ${at}`)
    assert.deepEqual(body, {
      error: 'invalid_client',
      error_description: 'client authentication failed',
    })
  }
})

test('refuses multipart bodies with files, repeats or a missing end', async (t) => {
  const { send } = await oauthWorld(t)
  const withFile = new FormData()
  for (const [name, value] of Object.entries({ ...grant, ...posted })) withFile.append(name, value)
  withFile.append('scope', new Blob(['x']), 'scope.txt')
  const repeated = new FormData()
  for (const value of ['a', 'b']) repeated.append('scope', value)
  const cut = {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: '--x\r\nContent-Disposition: form-data; name="grant_type"\r\n\r\nclient_cred',
  }
  for (const init of [{ body: withFile }, { body: repeated }, cut]) {
    const { status, body } = await send('/oauth2/token', { method: 'POST', ...init })
    assert.deepEqual([status, body.error], [400, 'invalid_request'])
  }
})

test('refuses two Authorization headers', async (t) => {
  const { url } = await oauthWorld(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const body = 'grant_type=client_credentials'
  socket.end(
    [
      'POST /oauth2/token HTTP/1.1',
      'Host: x',
      'Connection: close',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
      `Authorization: ${acmeBasic}`,
      'authorization: Basic eDp5',
      '',
      body,
    ].join('\r\n'),
  )
  assert.match(await text(socket), /^HTTP\/1\.1 400 [\s\S]*two Authorization headers/)
})

test('accepts two secrets after a rotation, and one after --now', async (t) => {
  const { command, token } = await oauthWorld(t)
  const status = async (secret: string) => (await token({ client_secret: secret })).status
  const second = await rotateClient(command, acme.id, { previousDays: 7 })
  assert('secret' in second)
  assert.deepEqual([await status(acme.secret), await status(second.secret.reveal())], [200, 200])
  const third = await rotateClient(command, acme.id, { previousDays: 7 })
  assert('secret' in third)
  const live = [acme.secret, second.secret.reveal(), third.secret.reveal()]
  assert.deepEqual(await Promise.all(live.map(status)), [401, 200, 200])
  const fourth = await rotateClient(command, acme.id, { previousDays: 0 })
  assert('secret' in fourth)
  const last = [second.secret.reveal(), third.secret.reveal(), fourth.secret.reveal()]
  assert.deepEqual(await Promise.all(last.map(status)), [401, 401, 200])
})

test('signs with a rotated key within ten seconds', async (t) => {
  const { clock, command, oauth, token } = await oauthWorld(t)
  const next = await command.keyring.rotate('token-signing', { revokeOthers: false })
  await oauth.refresh()
  const kid = async () => decodeProtectedHeader((await token()).body.access_token).kid
  assert.notEqual(await kid(), next.id)
  clock.advance(5)
  assert.equal(await kid(), next.id)
})

test('records the last use of a client and its secret once a minute', async (t) => {
  using time = takeTime()
  const { clock, command, token } = await oauthWorld(t)
  const lastUse = async () => {
    const client = await command.store.findClient(acme.id)
    return [client?.lastUsedAt, client?.secrets[0]?.lastUsedAt]
  }
  assert.deepEqual(await lastUse(), [undefined, undefined])
  const first = clock()
  await token()
  // The server records the use after it has sent the token.
  await until(async () => (await lastUse()).every((at) => at === first))
  clock.advance(60)
  await time.advance(59_999)
  await token()
  assert.deepEqual(await lastUse(), [first, first])
  await time.advance(1)
  await token()
  await until(async () => (await lastUse()).every((at) => at === clock()))
})

test('issues no token while the credential cache is too old', async (t) => {
  using time = takeTime()
  const { token } = await oauthWorld(t)
  await time.advance(60_001)
  const { status, headers, body } = await token()
  assert.equal(status, 503)
  assert.equal(headers.get('retry-after'), '5')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('content-type'), 'application/problem+json')
  assert.deepEqual([body.title, body.status], ['Service Unavailable', 503])
})
