import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'
import { inspect } from 'node:util'
import {
  type AttemptInfo,
  AuthenticationError,
  type BursarOptions,
  ConnectionError,
  createBursar,
  type Fetch,
  ServerError,
} from '../../sdk/src/index.ts'
import { withdrawal } from '../support/operation-calls.ts'
import { assertSentAfter } from '../support/scripted-client.ts'
import { settlesAfter } from '../support/settles-after.ts'
import { until } from '../support/until.ts'
import { takeTime } from '../support/virtual-time.ts'

/** A server that fails as the test orders, which the service cannot do; then it succeeds. */
type Answering = (response: ServerResponse, request: IncomingMessage) => unknown

const id = '11111111-1111-4111-8111-111111111111'

let failures: Answering[] = []
let tokenFailures: Answering[] = []
let seen: string[] = []

const json = (response: ServerResponse, body: unknown) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}
const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answering =>
  (response) => {
    response.writeHead(code, headers).end('<html>not a problem</html>')
  }
const cutHeaders: Answering = (response) => response.destroy()
const cutBody: Answering = (response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"account_number":"5730008846"', () => response.destroy())
}
const shortBody: Answering = (response) => {
  response.end('{"account_number":"5730008846",')
}

const foreignBody: Answering = (response) => {
  response.end('5730008846 is no JSON')
}

const server = createServer((request, response) => {
  const isToken = request.url === '/oauth2/token'
  const failure = (isToken ? tokenFailures : failures).shift()
  const { authorization = '' } = request.headers
  seen.push(isToken ? 'token' : `${request.method} ${authorization.replace('Bearer ', '')}`)
  if (failure !== undefined) failure(response, request)
  else if (isToken) {
    const count = seen.filter((what) => what === 'token').length
    json(response, { access_token: `t${count}`, expires_in: 900 })
  } else json(response, { id })
})
let baseUrl: string

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  baseUrl = `http://127.0.0.1:${address.port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  failures = []
  tokenFailures = []
  seen = []
})

type Tuned = 'baseUrl' | 'fetch' | 'hooks' | 'maxAttempts' | 'retryDelayMs' | 'timeoutMs'
const clientOf = (options: Partial<Pick<BursarOptions, Tuned>> = {}) =>
  createBursar({
    baseUrl,
    clientId: 'acme_sandbox',
    clientSecret: 'secret',
    retryDelayMs: 1,
    ...options,
  })

describe('a read is repeated', () => {
  for (const code of [408, 429, 500, 502, 503, 504]) {
    test(`after ${code}`, async () => {
      failures = [status(code), status(code)]
      assert.equal((await clientOf().fiatAccounts.get(id)).id, id)
      assert.deepEqual(seen, ['token', 'GET t1', 'GET t1', 'GET t1'])
    })
  }

  for (const [name, failure] of Object.entries({ cutHeaders, cutBody, shortBody })) {
    test(`after a connection that broke: ${name}`, async () => {
      failures = [failure]
      assert.equal((await clientOf().fiatAccounts.get(id)).id, id)
      assert.deepEqual(seen, ['token', 'GET t1', 'GET t1'])
    })
  }

  test('after an attempt that took too long, with its body or without', async (t) => {
    t.mock.method(Math, 'random', () => 0)
    using time = takeTime()
    const [sent, answered, repeated]: [string[], number[], number[]] = [[], [], []]
    const hooks = {
      onRequest: ({ path }: AttemptInfo) => void sent.push(path),
      onRetry: ({ attempt }: AttemptInfo) => void repeated.push(attempt),
    }
    const noting: Fetch = async (url, init) => {
      const response = await fetch(url, init)
      answered.push(response.status)
      return response
    }
    const silent: Answering = () => {}
    const stalled: Answering = (response) => response.write('{"id":')
    failures = [silent, stalled]
    const reading = clientOf({ fetch: noting, hooks, timeoutMs: 200 }).fiatAccounts.get(id)
    for (const attempt of [1, 2]) {
      // The token was answered, and the headers before the body that stalls.
      await until(() => seen.length === attempt + 1 && answered.length === attempt)
      await time.advance(199)
      assert.equal(repeated.length, attempt - 1)
      await time.advance(1)
      await until(() => repeated.length === attempt)
      await assertSentAfter(attempt, () => sent.length, time)
    }
    assert.equal((await reading).id, id)
    assert.deepEqual(seen, ['token', 'GET t1', 'GET t1', 'GET t1'])
  })

  test('five times in all, and then throws the last error', async () => {
    failures = Array.from({ length: 9 }, () => status(503, { 'x-request-id': 'r-1' }))
    await assert.rejects(clientOf().fiatAccounts.get(id), (error) => {
      assert.ok(error instanceof ServerError)
      assert.deepEqual([error.status, error.requestId, error.title], [503, 'r-1', 'HTTP 503'])
      assert.ok(!error.message.includes('<html>'))
      return true
    })
    assert.equal(seen.length, 6)
  })

  test('not after 400 or 404', async () => {
    for (const code of [400, 404]) {
      seen = []
      failures = [status(code)]
      await assert.rejects(clientOf().fiatAccounts.get(id), { status: code })
      assert.deepEqual(seen, ['token', 'GET t1'], String(code))
    }
  })
})

test('a cut answer is thrown without a part of it', async () => {
  for (const failure of [cutBody, shortBody, foreignBody]) {
    failures = [failure]
    await assert.rejects(clientOf({ maxAttempts: 1 }).fiatAccounts.get(id), (error) => {
      assert.ok(error instanceof ConnectionError)
      assert.ok(error.wasSent)
      assert.ok(!inspect(error, { depth: 9 }).includes('57300'))
      return true
    })
  }
})

test('a list ends with an error if the server answers the same cursor again', async () => {
  failures = ['a', 'b', 'b', 'b'].map((next_page_cursor) => (response) => {
    json(response, { items: [{ id: next_page_cursor }], next_page_cursor })
  })
  const read: string[] = []
  const reading = (async () => {
    for await (const page of clientOf().fiatAccounts.list()) read.push(page.id)
  })()
  await assert.rejects(reading, { name: 'BursarError', message: /cursor of the same page/ })
  assert.deepEqual(read, ['a', 'b', 'b'])
})

describe('a fee is requested', () => {
  test('again after 408 and 429', async () => {
    failures = [status(408), status(429)]
    assert.equal((await clientOf().cryptoWithdrawalFees.create(withdrawal)).id, id)
    assert.deepEqual(seen, ['token', 'POST t1', 'POST t1', 'POST t1'])
  })

  test('once, if the server may have taken the request', async () => {
    const statuses = [500, 502, 503, 504].map((code) => status(code))
    for (const failure of [...statuses, cutHeaders, cutBody]) {
      seen = []
      failures = [failure]
      await assert.rejects(clientOf().cryptoWithdrawalFees.create(withdrawal))
      assert.deepEqual(seen, ['token', 'POST t1'])
    }
  })

  test('again after a refused connection, which cannot have taken it', async () => {
    let attempts = 0
    // Nobody listens on the port of compressnet.
    const refused = 'http://127.0.0.1:2'
    const client = clientOf({
      baseUrl: refused,
      fetch: async (url, init) => {
        if (url.endsWith('/oauth2/token')) return fetch(`${baseUrl}/oauth2/token`, init)
        attempts += 1
        return fetch(url, init)
      },
    })
    await assert.rejects(client.cryptoWithdrawalFees.create(withdrawal), (error) => {
      assert.ok(error instanceof ConnectionError)
      assert.equal(error.wasSent, false)
      assert.match(error.detail, /\(ECONNREFUSED\)$/)
      return true
    })
    assert.equal(attempts, 5)
  })
})

describe('the token', () => {
  test('is one for concurrent calls', async () => {
    const client = clientOf()
    await Promise.all(Array.from({ length: 20 }, () => client.fiatAccounts.get(id)))
    assert.equal(seen.filter((what) => what === 'token').length, 1)
  })

  test('is renewed once after a 401, for all calls that were refused', async () => {
    const client = clientOf()
    failures = Array.from({ length: 5 }, () => status(401))
    await Promise.all(Array.from({ length: 5 }, () => client.fiatAccounts.get(id)))
    assert.equal(seen.filter((what) => what === 'token').length, 2)
    assert.equal(seen.filter((what) => what === 'GET t2').length, 5)
  })

  test('is renewed for a fee too, because a refused request was not taken', async () => {
    failures = [status(401)]
    assert.equal((await clientOf().cryptoWithdrawalFees.create(withdrawal)).id, id)
    assert.deepEqual(seen, ['token', 'POST t1', 'token', 'POST t2'])
  })

  test('is not renewed a second time', async () => {
    failures = [status(401), status(401)]
    await assert.rejects(clientOf().fiatAccounts.get(id), AuthenticationError)
    assert.deepEqual(seen, ['token', 'GET t1', 'token', 'GET t2'])
  })

  test('is requested again after 503, and not after a refusal', async () => {
    tokenFailures = [status(503), cutHeaders]
    await clientOf().cryptoWithdrawalFees.create(withdrawal)
    assert.deepEqual(seen, ['token', 'token', 'token', 'POST t3'])
    seen = []
    tokenFailures = [
      (response) => {
        response.statusCode = 400
        json(response, { error: 'invalid_scope', error_description: 'no scope is left' })
      },
    ]
    await assert.rejects(clientOf().fiatAccounts.get(id), (error) => {
      assert.ok(error instanceof AuthenticationError)
      const { status, title, detail } = error
      assert.deepEqual([status, title, detail], [400, 'invalid_scope', 'no scope is left'])
      return true
    })
    assert.deepEqual(seen, ['token'])
    seen = []
    tokenFailures = [status(404)]
    await assert.rejects(clientOf().fiatAccounts.get(id), (error) => {
      assert.ok(error instanceof AuthenticationError)
      assert.equal(error.status, 404)
      return true
    })
    assert.deepEqual(seen, ['token'])
  })

  test('is requested with client_secret_basic, and with the scopes of the caller', async () => {
    const asked: string[] = []
    failures = [
      async (response, request) => {
        asked.push(`${request.method} ${request.url}`)
        asked.push(atob(request.headers.authorization?.replace('Basic ', '') ?? ''))
        asked.push(await text(request))
        json(response, { access_token: 'own', expires_in: 900 })
      },
    ]
    const client = createBursar({
      baseUrl,
      tokenUrl: `${baseUrl}/token`,
      scopes: ['read:a', 'read:b'],
      clientId: 'a:b c',
      clientSecret: 'é&+%',
    })
    await client.fiatAccounts.get(id)
    assert.deepEqual(asked, [
      'POST /token',
      'a%3Ab+c:%C3%A9%26%2B%25',
      'grant_type=client_credentials&scope=read%3Aa+read%3Ab',
    ])
  })

  test('can come from a function, which is called once for concurrent calls', async () => {
    let count = 0
    const fetchToken = async () => {
      count += 1
      return { access_token: 'own', expires_in: 900 }
    }
    const client = createBursar({ baseUrl, fetchToken })
    await Promise.all([client.fiatAccounts.get(id), client.fiatAccounts.get(id)])
    assert.equal(count, 1)
    assert.deepEqual(seen, ['GET own', 'GET own'])
  })
})

test('a call fails if a function gives no token within its time', async () => {
  using time = takeTime()
  let count = 0
  const fetchToken = () => {
    count += 1
    return new Promise<never>(() => {})
  }
  const client = createBursar({ baseUrl, fetchToken })
  for (const at of [1, 2]) {
    const reading = client.fiatAccounts.get(id)
    await assert.rejects(settlesAfter(time, 30_000, reading), (error) => {
      assert.ok(error instanceof ConnectionError)
      assert.equal(error.detail, 'fetchToken gave no token within 30000 ms')
      return true
    })
    assert.deepEqual([count, time.waiting(), seen], [at, 0, []])
  }
})

describe('an aborted signal ends a call at once, with its reason', () => {
  test('and may be shared by many calls, without a warning', async (t) => {
    const warn = t.mock.method(process, 'emitWarning', () => {})
    const controller = new AbortController()
    const client = clientOf()
    failures = Array.from({ length: 30 }, (_, at) => () => {
      if (at === 29) controller.abort(reason)
    })
    const { signal } = controller
    const calls = Array.from({ length: 30 }, () => client.fiatAccounts.get(id, { signal }))
    for (const { status, ...rest } of await Promise.allSettled(calls)) {
      assert.deepEqual([status, rest], ['rejected', { reason }])
    }
    assert.equal(warn.mock.callCount(), 0)
  })

  const reason = new Error('enough')
  const isReason = (error: unknown) => error === reason

  test('before it begins', async () => {
    const signal = AbortSignal.abort(reason)
    await assert.rejects(clientOf().fiatAccounts.get(id, { signal }), isReason)
    await clientOf().fiatAccounts.get(id)
    assert.deepEqual(seen, ['token', 'GET t1'])
  })

  test('while the server does not answer', async () => {
    const controller = new AbortController()
    failures = [() => controller.abort(reason)]
    const { signal } = controller
    await assert.rejects(clientOf().fiatAccounts.get(id, { signal }), isReason)
    assert.deepEqual(seen, ['token', 'GET t1'])
  })

  test('while it waits for a token, which the other callers still get', async () => {
    const controller = new AbortController()
    let answer = () => {}
    tokenFailures = [
      (response) => {
        answer = () => json(response, { access_token: 'late', expires_in: 900 })
        controller.abort(reason)
      },
    ]
    const client = clientOf()
    const aborted = client.fiatAccounts.get(id, { signal: controller.signal })
    const other = client.fiatAccounts.get(id)
    await assert.rejects(aborted, isReason)
    answer()
    assert.equal((await other).id, id)
    assert.deepEqual(seen, ['token', 'GET late'])
  })
})
