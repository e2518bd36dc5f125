import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { METHODS } from 'node:http'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { echo, type Operation, operations, problemTypes, statusGuides } from '@bursar/contract'
import { assertProblem } from '../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme } from '../../../../test/support/harness.ts'
import {
  callOf,
  gets,
  lists,
  pathOf,
  reads,
  withQuery,
} from '../../../../test/support/operation-calls.ts'
import {
  calledOf,
  type RawAnswer,
  rawRequest,
  rawSocket,
} from '../../../../test/support/raw-request.ts'
import { hourMs, systemMs } from '../../../../test/support/until.ts'
import recorded from '../../src/documents/openapi-examples.json' with { type: 'json' }
import type { OperationExamples } from '../../src/documents/openapi-examples.ts'

let bearer: string

const service = describeService({}, async () => {
  bearer = `Bearer ${await service.tokenOf(acme)}`
})

const send = async (path: string, method = 'GET', headers: readonly string[] = []) =>
  rawRequest(service.url, path, { method, headers: ['authorization', bearer, ...headers] })

const instanceOf = (path: string): string => path.split('?')[0] ?? ''

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
const methodOf = (operation: Operation): string => callOf(operation).method ?? 'GET'

describe('a wrong method', () => {
  for (const operation of operations) {
    test(`${operation.id} answers 405 and lists its methods in Allow`, async () => {
      const path = pathOf(operation)
      const allowed = methodOf(operation) === 'GET' ? ['GET', 'HEAD'] : ['POST']
      for (const method of methods.filter((each) => !allowed.includes(each))) {
        const expected = {
          status: 405,
          detail: `the method must be ${allowed.join(' or ')}`,
          instance: instanceOf(path),
          headers: { allow: allowed.join(', ') },
        }
        assertProblem(calledOf(await send(path, method)), expected, method)
      }
    })
  }

  for (const operation of reads) {
    test(`${operation.id} answers 405 before it reads a body of any size`, async () => {
      const answer = await rawRequest(service.url, pathOf(operation), {
        method: 'POST',
        body: 'x'.repeat(100_000),
      })
      assert.equal(answer.status, 405)
    })

    test(`${operation.id} answers HEAD with the headers of GET and no body`, async () => {
      const [get, head] = [await send(pathOf(operation)), await send(pathOf(operation), 'HEAD')]
      const plain = ({ headers }: RawAnswer) =>
        ['content-type', 'cache-control', 'etag', 'content-length'].map((name) => headers[name])
      assert.equal(head.status, 200)
      assert.equal(head.text, '')
      // Each cursor is encrypted with a new nonce, but its length is constant.
      assert.deepEqual(plain(head), plain(get))
    })
  }

  test('is 405 for every other method that Node parses', async () => {
    // CONNECT asks for a tunnel, so the test of broken requests covers it.
    const others = METHODS.filter((method) => !['GET', 'HEAD', 'CONNECT'].includes(method))
    const answers = await Promise.all(others.map((method) => send('/v2/statements', method)))
    for (const [at, answer] of answers.entries()) {
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, HEAD'], `${others[at]}`)
    }
  })

  test('is 405 when the path is percent-encoded', async () => {
    for (const path of ['/v2/transfer/fiat%2Daccounts', '/v2/%73tatements?customer_id=acme']) {
      assert.equal((await send(path)).status, 200, path)
      const answer = calledOf(await send(path, 'POST'))
      assert.equal(answer.status, 405, path)
      assert.equal(answer.headers.get('allow'), 'GET, HEAD')
    }
  })

  test('is 405 on the routes outside /v2 too', async () => {
    for (const [path, method, allow] of [
      ['/oauth2/token', 'GET', 'POST'],
      ['/oauth2/revoke', 'DELETE', 'POST'],
      ['/healthz', 'POST', 'GET, HEAD'],
      ['/openapi.json', 'PUT', 'GET, HEAD'],
      ['/docs', 'POST', 'GET, HEAD'],
      ['/docs/', 'DELETE', 'GET, HEAD'],
    ] as const) {
      const answer = calledOf(await send(path, method))
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, allow], path)
    }
  })
})

const noPath = 'there is nothing at this path; /openapi.json lists every operation'

describe('an unknown path', () => {
  test('is 404 for every method, with and without a token', async () => {
    for (const path of [
      '/v2',
      '/v2/',
      '/v1/transfer/fiat-accounts',
      '/v2/transfer',
      '/V2/transfer/fiat-accounts',
      '/v2//transfer/fiat-accounts',
      '/v2/transfer/fiat-accounts/11111111-1111-4111-8111-111111111111/more',
      '/v2/statements/44444444-4444-4444-8444-444444444444',
      '/.env',
    ]) {
      const answer = calledOf(await send(path))
      assertProblem(answer, { status: 404, detail: noPath, instance: path })
    }
    const answer = calledOf(await rawRequest(service.url, '/nowhere', { method: 'DELETE' }))
    assertProblem(answer, {
      status: 404,
      detail: noPath,
      instance: '/nowhere',
    })
  })
})

describe('a request that its headers rule out', () => {
  const post = '/v2/transfer/fees/crypto-withdrawal'
  const length = (bytes: number) => `content-length: ${bytes}\r\n`
  const withToken = () => `authorization: ${bearer}\r\n`

  test('is refused before 100 Continue invites its body', async () => {
    for (const [line, headers, status] of [
      [`POST ${post}`, length(9), 401],
      [`POST ${post}`, `${length(9)}authorization: Bearer x\r\n`, 401],
      [`POST ${post}`, `${withToken()}${length(16_385)}`, 413],
      [`POST ${post}`, `${withToken()}${length(9)}content-encoding: gzip\r\n`, 415],
      [`POST ${post}`, `${withToken()}${length(9)}host: y\r\n`, 400],
      ['POST /nowhere', length(9), 404],
      [`PUT ${post}`, `${withToken()}${length(9)}`, 405],
      ['GET /v2/statements', length(9), 401],
    ] as const) {
      const sent = `${line} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n${headers}\r\n`
      const answer = await rawSocket(service.url, sent)
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), `${line} ${status}`)
      assert.match(answer, /\r\ncontent-type: application\/problem\+json\r\n/, line)
    }
  })

  test('gets 100 Continue when only its body can rule it out', async () => {
    const sent = `POST ${post} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nconnection: close\r\n${withToken()}${length(2)}\r\n{}`
    const answer = await rawSocket(service.url, sent)
    assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /)
  })

  test('is 417 when it expects anything else', async () => {
    const answer = calledOf(await send('/healthz', 'GET', ['expect', 'tea']))
    const detail = 'the Expect header must be 100-continue or absent'
    assertProblem(answer, { status: 417, detail, instance: '/healthz' })
    assert.ok(answer.headers.has('date'))
  })

  test('is 415 when its body is compressed, and names the coding to use', async () => {
    for (const path of [post, '/oauth2/token']) {
      for (const coding of ['gzip', 'identity, br', 'Deflate']) {
        const headers = ['content-encoding', coding]
        const answer = await rawRequest(service.url, path, { method: 'POST', headers, body: '{}' })
        const detail = 'the body must not be compressed; send it without Content-Encoding'
        assertProblem(calledOf(answer), { status: 415, detail, instance: path }, coding)
        assert.equal(answer.headers['accept-encoding'], 'identity', coding)
      }
    }
    const headers = ['authorization', bearer, 'content-encoding', 'Identity']
    const answer = await rawRequest(service.url, post, { method: 'POST', headers, body: '{}' })
    assert.equal(answer.status, 400)
  })

  test('is 501 when its body has an unknown transfer coding', async () => {
    const answer = await rawSocket(
      service.url,
      `POST ${post} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 501 /)
  })
})

describe('an unknown id', () => {
  const id = 'ffffffff-ffff-4fff-bfff-ffffffffffff'
  for (const get of gets) {
    test(`${get.id} names an unknown id in its 404`, async () => {
      const path = get.path.replace(':id', id)
      const detail =
        get.id === 'getFiatAccount'
          ? `no fiat account found for id: '${id}'`
          : `fiat deposit instructions with id ${id} not found`
      assertProblem(await service.call(path), { status: 404, detail, instance: path })
    })
  }
})

describe('a request that is too large', () => {
  test('is 413 when its body exceeds 16 KiB, with Content-Length or chunked', async () => {
    for (const path of ['/oauth2/token', '/sandbox/reset', '/v2/transfer/fees/crypto-withdrawal']) {
      const whole = await rawRequest(service.url, path, {
        method: 'POST',
        headers: ['content-type', 'application/x-www-form-urlencoded'],
        body: 'x'.repeat(16 * 1024 + 1),
      })
      const detail = 'the body must have at most 16384 bytes'
      assertProblem(calledOf(whole), { status: 413, detail, instance: path }, path)
    }
    const chunk = `4001\r\n${'x'.repeat(0x4001)}\r\n`
    const answer = await rawSocket(
      service.url,
      `POST /sandbox/reset HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 413 Payload Too Large\r\n/)
  })

  test('is 431 when its headers are too long', async () => {
    const answer = await rawSocket(
      service.url,
      `GET /v2/statements?x=${'x'.repeat(72 * 1024)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    )
    assertSocketProblem(answer, 431, 'Request Header Fields Too Large')
  })

  test('is 431 when it has more than 100 headers', async () => {
    const headers = (count: number) => Array.from({ length: count }, (_, at) => [`a${at}`, 'b'])
    const some = await rawRequest(service.url, '/healthz', { headers: headers(90).flat() })
    assert.equal(some.status, 200)
    const many = await rawRequest(service.url, '/healthz', { headers: headers(200).flat() })
    assert.equal(many.status, 431)
    assert.match(many.text, /at most 73728 bytes and 100 headers/)
  })

  test('is 431 when its path is longer than any that exists', async () => {
    const detail = 'the path must have at most 2048 characters'
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = calledOf(await send(`/v2/${'ab%20'.repeat(500)}?limit=1`, method))
      const instance = `/v2/${'ab%20'.repeat(20)}`.slice(0, 100)
      assertProblem(answer, { status: 431, detail, instance }, method)
    }
  })

  test('is 404 when its path ends in a fragment, decodable or not', async () => {
    for (const path of ['/x#%ff', '/v2/statement#%', '/x#y']) {
      assert.equal((await send(path)).status, 404, path)
    }
  })

  test('is 415 when its Content-Encoding is too long to be read', async () => {
    const headers = ['content-encoding', ','.repeat(60_000)]
    assert.equal((await send('/v2/transfer/fees/crypto-withdrawal', 'POST', headers)).status, 415)
  })

  test('is 400 when its query has more parameters than the filters take entries', async () => {
    const answer = calledOf(await send(`/v2/statements?customer_id=acme${'&a'.repeat(3100)}`))
    assertProblem(answer, {
      status: 400,
      detail: 'query must have at most 3100 parameters',
      instance: '/v2/statements',
      meta: {
        errors: [
          { parameter: 'query', code: 'too_many', reason: 'must have at most 3100 parameters' },
        ],
      },
    })
    const most = await send(`/v2/statements?customer_id=acme${'&a'.repeat(3099)}`)
    assert.equal(most.status, 200)
  })

  test('is accepted with 1,000 record ids and the longest token', async () => {
    const ids = Array.from({ length: 1000 }, (_, at) => `statement_ids%5B${at}%5D=${randomUUID()}`)
    const answer = await rawRequest(service.url, `/v2/statements?${ids.join('&')}`, {
      headers: ['authorization', `Bearer ${'x'.repeat(8192)}`, 'user-agent', 'x'.repeat(200)],
    })
    // The token is refused, so the headers were not.
    assert.equal(answer.status, 401)
  })

  test('is accepted with 100 references of 100 characters in each of five filters', async () => {
    const names = ['profile_ids', 'identity_ids', 'ref_ids', 'account_ids', 'addresses']
    const query = names.flatMap((name) =>
      Array.from({ length: 100 }, (_, at) => [name, `${'x'.repeat(96)}${1000 + at}`] as const),
    )
    const answer = await send(withQuery('/v2/transfer/deposit-addresses', query))
    assert.equal(answer.status, 200)
    assert.equal(answer.text, '{"items":[]}')
  })
})

function assertSocketProblem(answer: string, status: number, title: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const [statusLine, ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line) => line.split(/: (.*)/).slice(0, 2)) as [string, string][],
  )
  const parsed = JSON.parse(body)
  assert.equal(statusLine, `HTTP/1.1 ${status} ${title}`)
  assert.equal(headers.get('content-type'), 'application/problem+json')
  assert.equal(headers.get('connection'), 'close')
  assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)))
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.ok(Math.abs(Date.parse(headers.get('date') ?? '') - systemMs()) < hourMs)
  assert.match(String(headers.get('x-request-id')), uuid)
  assert.deepEqual(
    { ...parsed, detail: typeof parsed.detail, instance: typeof parsed.instance },
    {
      type: 'about:blank',
      title,
      status,
      detail: 'string',
      instance: 'string',
      request_id: headers.get('x-request-id'),
    },
  )
}

describe('bytes that are not valid HTTP', () => {
  const host = 'host: x\r\n'
  const broken: Readonly<Record<string, string>> = {
    'no request line': 'hello\r\n\r\n',
    'TLS on a plain port': '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
    'an unknown version': `GET /v2/statements HTTP/9.9\r\n${host}\r\n`,
    'Content-Length and chunks together': `POST /oauth2/token HTTP/1.1\r\n${host}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': `POST /oauth2/token HTTP/1.1\r\n${host}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`,
    'a length that is not a number': `POST /oauth2/token HTTP/1.1\r\n${host}content-length: x\r\n\r\n`,
    'a space before the colon': `GET /v2/statements HTTP/1.1\r\n${host}authorization : x\r\n\r\n`,
    'a folded header': `GET /v2/statements HTTP/1.1\r\n${host}a: b\r\n c\r\n\r\n`,
    'a control character in a header': `GET /v2/statements HTTP/1.1\r\n${host}a: b\u0000c\r\n\r\n`,
    'a space in the path': `GET /v2/state ments HTTP/1.1\r\n${host}\r\n`,
    'an invalid chunk size': `POST /oauth2/token HTTP/1.1\r\n${host}transfer-encoding: chunked\r\n\r\nzz\r\n\r\n`,
    'no host': 'GET /v2/statements HTTP/1.1\r\nconnection: close\r\n\r\n',
    'two hosts': `GET /v2/statements HTTP/1.1\r\n${host}Host: y\r\nconnection: close\r\n\r\n`,
    'the same host twice': `GET /healthz HTTP/1.0\r\n${host}${host}\r\n`,
    ...Object.fromEntries(
      ['', 'a b', 'a/b', 'a@b', 'a:b', 'a:99999', '[::1', '[x]', '::1', 'a%', 'a'.repeat(262)].map(
        (name) => [
          `the host '${name}'`,
          `GET /healthz HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`,
        ],
      ),
    ),
  }
  for (const [name, bytes] of Object.entries(broken)) {
    test(`are answered 400 as problem+json and the connection is closed: ${name}`, async () => {
      assertSocketProblem(await rawSocket(service.url, bytes), 400, 'Bad Request')
    })
  }

  test('are answered 501 when only the method is unknown, and 405 for CONNECT', async () => {
    for (const method of ['FETCH', 'get', 'PROP*']) {
      const answer = await rawSocket(
        service.url,
        `${method} /v2/statements HTTP/1.1\r\n${host}\r\n`,
      )
      assertSocketProblem(answer, 501, 'Not Implemented')
    }
    const answer = await rawSocket(service.url, `CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`)
    assertSocketProblem(answer, 405, 'Method Not Allowed')
    assert.match(answer, /\r\nallow: GET, HEAD, POST\r\n/)
  })

  test('are answered after the request before them on the connection', async () => {
    const list = `GET /v2/transfer/fiat-accounts?limit=1000 HTTP/1.1\r\n${host}authorization: ${bearer}\r\n\r\n`
    for (const [after, status] of [
      ['hello\r\n\r\n', 400],
      [`FETCH / HTTP/1.1\r\n${host}\r\n`, 501],
    ] as const) {
      const received = await rawSocket(service.url, list + after)
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, found]) =>
        Number(found),
      )
      assert.deepEqual(statuses, [200, status])
    }
  })

  test('do not affect later requests', async () => {
    assert.equal((await service.call('/healthz', { as: null })).status, 200)
  })
})

describe('a malformed path', () => {
  test('is 400 when a percent escape is invalid', async () => {
    for (const bad of ['%', '%zz', '%f', '%ff', '%ed%a0%80', 'a%c0%80']) {
      for (const path of [`/v2/transfer/fiat-accounts/${bad}`, `/v2/${bad}`]) {
        const answer = calledOf(await send(path))
        assert.ok([400, 404].includes(answer.status), path)
        assertProblem(answer, {
          status: answer.status,
          detail: answer.body.detail,
          instance: path.replace(/%(?![0-9a-f]{2})/, '%25'),
        })
      }
    }
    const answer = calledOf(await send('/v2/transfer/fiat-accounts/%zz'))
    assert.deepEqual(
      [answer.status, answer.body.instance],
      [400, '/v2/transfer/fiat-accounts/%25zz'],
    )
  })

  test('does not reach another route by dots or double encoding', async () => {
    for (const path of [
      '/v2/transfer/fiat-accounts/..%2f..%2fhealthz',
      '/v2/transfer/fiat-accounts/%2e%2e',
      '/v2/transfer/fiat-accounts/%252e%252e',
      '/v2/transfer/../../healthz',
    ]) {
      const answer = await send(path)
      assert.ok([400, 404].includes(answer.status), path)
      assert.equal(answer.headers['content-type'], 'application/problem+json', path)
    }
  })
})

test('the instance of a problem is a URI reference, whatever the path is', async () => {
  for (const [path, instance] of [
    ['/v2/%', '/v2/%25'],
    ['/v2/a%2', '/v2/a%252'],
    ['/v2/{a}|^`"<>\\\\[]', '/v2/%7Ba%7D%7C%5E%60%22%3C%3E%5C%5C%5B%5D'],
    [`/${'a'.repeat(10)}${'%20'.repeat(40)}`, `/${'a'.repeat(10)}${'%20'.repeat(29)}`],
    [`/v2/${'a'.repeat(50)}`, '/v2/(withheld)'],
    ['/v2/a?b={c}', '/v2/a'],
  ] as const) {
    const sent = `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
    const body = JSON.parse((await rawSocket(service.url, sent)).split('\r\n\r\n')[1] ?? '')
    assert.equal(body.instance, instance, path)
  }
})

describe('an echoed value', () => {
  const badIds = (get: (typeof gets)[number], value: string) =>
    get.path.replace(':id', encodeURIComponent(value))

  for (const get of gets) {
    test(`of ${get.id} is cut to 100 whole characters`, async () => {
      for (const [given, shown] of [
        ['ab '.repeat(200), `${'ab '.repeat(33)}a`],
        ['🙂'.repeat(150), '🙂'.repeat(100)],
      ] as const) {
        const answer = await service.call(badIds(get, given))
        assert.equal(answer.status, 400, given)
        assert.equal(answer.body.detail.includes(shown), true, given)
        assert.equal(answer.body.detail.includes(`${shown}${[...given].at(100)}`), false)
        assert.ok([...answer.body.instance].length <= 100, given)
      }
    })

    test(`of ${get.id} loses control characters, direction marks and line breaks`, async () => {
      const hostile = 'a\u0001b\tc\nd\re\u007ff\u0085g\u200bh\u202ei\u2028j\u2029k\u061cl\ufeffm'
      const answer = await service.call(badIds(get, hostile))
      assert.equal(answer.status, 400)
      assert.match(answer.body.detail, /abcdefghijklm/)
    })

    test(`of ${get.id} is escaped as JSON`, async () => {
      for (const hostile of ['<script>alert(1)</script>', '"}', "'", '\\', '%s%n']) {
        const answer = await service.call(badIds(get, hostile))
        assert.equal(answer.status, 400, hostile)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json', hostile)
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', hostile)
        assert.equal(answer.body.detail.includes(hostile), true, hostile)
      }
    })

    test(`of ${get.id} is withheld when it may be a secret`, async () => {
      for (const secret of secrets()) {
        const answer = await service.call(get.path.replace(':id', secret))
        assert.equal(answer.status, 400)
        assert.equal(answer.text.includes(secret.slice(0, 40)), false, answer.text)
      }
    })
  }

  for (const list of lists) {
    test(`of ${list.id} is withheld when it may be a secret`, async () => {
      const name = 'statement_ids' in list.query ? 'statement_ids' : 'ids'
      for (const secret of secrets()) {
        for (const parameter of [name, 'ref_ids', 'limit', 'order', 'page_cursor']) {
          const answer = await service.call(pathOf(list, [[parameter, secret]]))
          assert.equal(answer.text.includes(secret.slice(0, 40)), false, answer.text)
        }
      }
    })
  }

  test('is withheld when it may be a secret that is longer than what is read of it', () => {
    for (const secret of secrets()) {
      for (const hidden of [940, 970, 990, 999]) {
        const shown = echo(`${'\u0001'.repeat(hidden)}${secret}`)
        assert.equal(shown.includes(secret.slice(0, 8)), false, shown)
      }
    }
  })

  test('of an unknown path is withheld when it may be a secret', async () => {
    for (const secret of secrets()) {
      const answer = await service.call(`/v2/${secret}`)
      assert.equal(answer.status, 404)
      assert.equal(answer.text.includes(secret.slice(0, 40)), false, answer.text)
    }
  })
})

/** An access token, and the example seed of Stellar's documentation. */
const secrets = () => [
  bearer.slice('Bearer '.length),
  'SAV76USXIJOBMEQXPANUOQM6F5LIOTLPDIDVRJBFFE2MDJXG24TAPUU7',
]

describe('the request id', () => {
  const paths = () => [
    '/v2/transfer/fiat-accounts?limit=1',
    '/v2/transfer/fiat-accounts?limit=0',
    '/v2/transfer/fiat-accounts/ffffffff-ffff-4fff-bfff-ffffffffffff',
    '/nowhere',
    '/v2/transfer/fiat-accounts/%zz',
    '/healthz',
  ]

  test('is the client’s own when that is valid, in header and body', async () => {
    for (const path of paths()) {
      for (const id of ['a', 'req-1:2/3_4.5+6=', 'x'.repeat(128)]) {
        const answer = calledOf(await send(path, 'GET', ['x-request-id', id]))
        assert.equal(answer.headers.get('x-request-id'), id, path)
        if (answer.status >= 400) assert.equal(answer.body.request_id, id, path)
      }
    }
  })

  test('is generated when the client sends none or an invalid one', async () => {
    for (const path of paths()) {
      const seen = new Set<string>()
      for (const id of [undefined, '', 'x'.repeat(129), 'a b', 'a"b', '<b>', 'ä', 'a\tb', '{}']) {
        const answer = calledOf(
          await send(path, 'GET', id === undefined ? [] : ['x-request-id', id]),
        )
        const made = String(answer.headers.get('x-request-id'))
        assert.match(made, uuid, path)
        if (answer.status >= 400) assert.equal(answer.body.request_id, made, path)
        seen.add(made)
      }
      assert.equal(seen.size, 9, path)
    }
  })

  test('is generated when the client sends two', async () => {
    const answer = await send('/nowhere', 'GET', ['x-request-id', 'one', 'x-request-id', 'two'])
    assert.match(String(answer.headers['x-request-id']), uuid)
  })
})

describe('every answer', () => {
  test('forbids content sniffing and does not name the server software', async () => {
    for (const path of [
      '/v2/statements',
      '/nowhere',
      '/healthz',
      '/v2/transfer/fiat-accounts/%zz',
    ]) {
      const answer = await send(path)
      assert.equal(answer.headers['x-content-type-options'], 'nosniff', path)
      assert.equal(answer.headers['x-powered-by'], undefined, path)
      assert.equal(answer.headers.server, undefined, path)
    }
  })

  test('depends on the path alone, not on Host or forwarding headers', async () => {
    const headers = [
      'x-forwarded-host',
      'evil.example',
      'x-forwarded-for',
      '1.2.3.4',
      'x-original-url',
      '/v2/issuer-quotes',
      'x-http-method-override',
      'DELETE',
    ]
    const answer = await send('/.well-known/oauth-authorization-server', 'GET', headers)
    assert.equal(JSON.parse(answer.text).issuer, service.url)
    const overridden = await send('/v2/transfer/fiat-accounts?limit=1', 'GET', headers)
    assert.equal(overridden.status, 200)
    assert.deepEqual(Object.keys(JSON.parse(overridden.text)), ['items', 'next_page_cursor'])
  })
})

describe('the problem pages', () => {
  const names = [...Object.keys(problemTypes), ...statusGuides.map(({ status }) => String(status))]
  const exampleOn = (html: string) =>
    JSON.parse(
      (/<pre[^>]*><code>([\s\S]*)<\/code><\/pre>/.exec(html)?.[1] ?? '')
        .replaceAll('&lt;', '<')
        .replaceAll('&amp;', '&'),
    )

  test('/problems lists every type and every status, and loads nothing', async () => {
    const answer = await service.call('/problems', { as: null })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    const policy = String(answer.headers.get('content-security-policy'))
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]+';/)
    assert.match(policy, /frame-ancestors 'none'/)
    for (const name of names) assert.ok(answer.text.includes(`<a href="/problems/${name}">`), name)
    assert.equal((await service.call('/problems/', { as: null })).text, answer.text)
  })

  for (const name of names) {
    test(`/problems/${name} has a recorded answer as its example`, async () => {
      const { status, text } = await service.call(`/problems/${name}`, { as: null })
      assert.equal(status, 200)
      const example = exampleOn(text)
      const isStatus = /^\d+$/.test(name)
      assert.equal(example.type, isStatus ? 'about:blank' : `/problems/${name}`)
      if (isStatus) assert.equal(String(example.status), name)
      const members = ['type', 'title', 'status', 'detail', 'instance', 'request_id']
      assert.deepEqual(
        Object.keys(example).filter((member) => member !== 'meta'),
        members,
      )
      const answers = Object.values<OperationExamples>(recorded).flatMap((operation) =>
        Object.values(operation.answers[example.status] ?? {}),
      )
      assert.ok(answers.some(({ value }) => isDeepStrictEqual(value, example)))
    })
  }

  test('an unknown name is a 404 that names the index', async () => {
    const path = '/problems/no-such-problem'
    const detail = 'there is no problem of this name; /problems lists them all'
    assertProblem(calledOf(await send(path)), { status: 404, detail, instance: path })
  })
})
