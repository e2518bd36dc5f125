import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer, Request, Route } from '@bursar/contract'
import fc from 'fast-check'
import { problemOf } from '../../server/src/server/problem-of-failure.ts'
import { acme, acmeBasic, oauthWorld } from './support/oauth-world.ts'

const names = [
  'grant_type',
  'scope',
  'client_id',
  'client_secret',
  'client_assertion',
  'token',
  'client_assertion_type',
  '__proto__',
  'constructor',
  '',
]
const value = fc.oneof(
  fc.constantFrom('client_credentials', acme.id, acme.secret, 'a.b.c', 'e30.e30.e30', '%', '+'),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const pairs = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 12 })
const urlencoded = pairs.map((list) => Buffer.from(new URLSearchParams(list).toString()))
const multipart = pairs.map((list) => {
  const parts = list.map(
    ([name, text]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
  )
  return Buffer.from(`${parts.join('')}--x--\r\n`)
})
const body = fc.oneof(
  urlencoded,
  multipart,
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
)
const type = fc.constantFrom(
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'multipart/form-data; boundary=',
  'application/x-www-form-urlencoded; charset=utf-16',
)
const basic = value.map((text) => `Basic ${Buffer.from(text).toString('base64')}`)
const authorization = fc.option(fc.oneof(basic, value, fc.constant(acmeBasic)))

async function answerOf(route: Route, request: Request): Promise<Answer> {
  try {
    return await route.answer(request)
  } catch (error) {
    const problem = problemOf(error)
    return route.renderProblem?.(problem) ?? assert.fail(problem)
  }
}

test('answers arbitrary input with RFC 6749 errors and no-store, never with 500', async (t) => {
  const { oauth } = await oauthWorld(t)
  const routes = oauth.routes().filter(({ method }) => method === 'POST')
  let count = 0
  const property = fc.asyncProperty(
    fc.constantFrom(...routes),
    body,
    type,
    authorization,
    async (route, bytes, contentType, header) => {
      count += 1
      const request: Request = {
        method: 'POST',
        path: route.path,
        rawQuery: '',
        body: bytes,
        headers: { 'content-type': contentType },
        rawHeaders: header === null ? [] : ['Authorization', header],
        connection: {},
        address: `10.0.${count >> 8}.${count & 255}`,
        parameters: {},
        id: 'fuzz',
        left: () => AbortSignal.any([]),
        rest: () => () => {},
        trace: {},
      }
      const answer = await answerOf(route, request)
      assert([200, 400, 401].includes(answer.status), String(answer.status))
      assert.equal(answer.headers['cache-control'], 'no-store')
      if (answer.status === 200) return
      const { error, error_description } = JSON.parse(String(answer.body))
      assert.match(error, /^(invalid_request|invalid_client|invalid_scope|unsupported_grant_type)$/)
      assert.match(error_description, /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/)
    },
  )
  await fc.assert(property, { numRuns: 2000, seed: 20_261_121 })
})
