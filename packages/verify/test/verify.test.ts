import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { describeService } from '../../../test/support/describe-service.ts'
import { acme, borealis, temporaryFolder } from '../../../test/support/harness.ts'
import { isLong } from '../../../test/support/long.ts'
import { startProgram } from '../../../test/support/program.ts'
import { type Ran, runBursar } from '../../../test/support/run-bursar.ts'
import { allStatements } from '../src/statements/all-statements.ts'
import { startWrongServer } from './support/wrong-server.ts'

const service = describeService()

const verify = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runBursar('sqlite:none.db', ['verify', ...words], '', env)

const of = ({ clientId, clientSecret }: typeof acme) => [
  '--client-id',
  clientId,
  '--client-secret',
  clientSecret,
]
const other = ({ clientId, clientSecret }: typeof acme) => [
  '--other-client-id',
  clientId,
  '--other-client-secret',
  clientSecret,
]

type Listed = {
  readonly id: string
  readonly verdict: string
  readonly notes: readonly string[]
  readonly faults: readonly Readonly<Record<string, string>>[]
}
const statementsOf = ({ out }: Ran): readonly Listed[] => JSON.parse(out).statements
const notesOf = (ran: Ran, id: string) => statementsOf(ran).find((one) => one.id === id)?.notes
const idsOf = (verdict: string, ran: Ran) =>
  statementsOf(ran).flatMap((one) => (one.verdict === verdict ? one.id : []))

describe('of the sandbox', () => {
  test('every statement holds, so none is out of its records’ reach', async () => {
    const pairs = [
      [acme, borealis],
      [borealis, acme],
    ] as const
    // The wrong servers show it of Borealis each time.
    for (const [client, second] of isLong ? pairs : pairs.slice(0, 1)) {
      const ran = await verify([
        '--target',
        service.url,
        ...of(client),
        ...other(second),
        '--allow-fees',
        '--json',
      ])
      const faults = statementsOf(ran).flatMap((one) => one.faults)
      assert.deepEqual([ran.code, ran.err, faults], [0, '', []])
      const { held, broken, not_testable, target, statements } = JSON.parse(ran.out)
      assert.deepEqual(
        { target, broken, not_testable },
        { target: service.url, broken: 0, not_testable: 1 },
      )
      // No request of the run is limited.
      assert.deepEqual(idsOf('not testable', ran), ['answers.retry-after'])
      assert.ok(held > 130 && held === statements.length - 1)
      // The sandbox shows no member that the contract does not name.
      assert.deepEqual(notesOf(ran, 'values.members'), [])
    }
  })

  test('each statement is one line, and a summary ends the report', async () => {
    const ran = await verify([
      '--target',
      `${service.url}/`,
      ...of(borealis),
      '--only',
      'caching',
      'fees.sum',
    ])
    assert.deepEqual(ran, {
      code: 0,
      err: '',
      out: `held          caching.lists: A list has Cache-Control private, no-cache and an ETag.
held          caching.not-modified: A list that has not changed is answered 304 to its ETag, without a body.
held          caching.etag-differs: Different pages have different ETags, in one list and in two.
held          caching.reads: A single read has Cache-Control no-store.
not testable  fees.sum: amount plus fee is exactly total, and the caller’s figure is answered as it was sent. (creating fees was not allowed (--allow-fees))
5 statements: 4 held, 0 broken, 1 not testable
`,
    })
  })

  test('without the second client isolation is not testable, and no fee is created', async () => {
    const ran = await verify([
      '--target',
      service.url,
      ...of(borealis),
      '--json',
      '--only',
      'isolation',
      'fees',
    ])
    assert.equal(ran.code, 0)
    assert.deepEqual(idsOf('held', ran), ['isolation.own-customer'])
    assert.deepEqual(notesOf(ran, 'isolation.lists'), [
      'there is no second client (--other-client-id)',
    ])
    assert.deepEqual(notesOf(ran, 'isolation.reads'), [
      'there is no second client (--other-client-id)',
    ])
  })

  test('a second client of the same customer does not test isolation', async () => {
    const ran = await verify([
      '--target',
      service.url,
      ...of(acme),
      ...other(acme),
      '--json',
      '--only',
      'isolation.lists',
    ])
    assert.deepEqual(idsOf('not testable', ran), ['isolation.lists'])
  })
})

describe('of serve', () => {
  test('every statement holds or says why few records do not suffice', async () => {
    const folder = temporaryFolder()
    const database = `sqlite:${join(folder, 'bursar.db')}`
    const records = new URL('../../../examples/records/', import.meta.url).pathname
    for (const [kind, file] of [
      ['fiat-accounts', 'fiat-accounts.ndjson'],
      ['statements', 'statements.json'],
      ['deposit-addresses', 'deposit-addresses.csv'],
    ] as const) {
      assert.equal((await runBursar(database, ['import', kind, join(records, file)])).code, 0)
    }
    const create = ['client', 'create', '--customer', 'northwind', '--name', 'verify', '--json']
    const { client_id, client_secret } = JSON.parse((await runBursar(database, create)).out)
    const program = startProgram(['serve', '--port', '0', '--json', '--database', database])
    try {
      const { url } = JSON.parse(await program.firstLine)
      const ran = await verify(['--target', url, '--client-id', client_id, '--json'], {
        VERIFY_CLIENT_SECRET: client_secret,
      })
      assert.equal(ran.code, 0, ran.out)
      assert.deepEqual(idsOf('broken', ran), [])
      assert.ok(idsOf('held', ran).length > 60)
      assert.deepEqual(notesOf(ran, 'order.ascending'), [
        'statements, deposit addresses: it has one record only',
        'fiat deposit instructions, issuer quote executions: it has no record',
      ])
    } finally {
      await program.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('a broken statement', () => {
  test('is shown with request and answer, and the exit code is 1', async () => {
    await using server = await startWrongServer(service.url, {
      answer: ({ text }) => ({ text: text.replace(/\]\}$/, '],"next_page_cursor":null}') }),
    })
    const only = ['--only', 'paging.last-cursor', 'paging.empty']
    const ran = await verify(['--target', server.url, ...of(borealis), ...only])
    assert.equal(ran.code, 1)
    assert.equal(ran.err, '1 statement is broken: paging.last-cursor (extra)\n')
    const [held, broken, fault, source, request, answer] = ran.out.split('\n')
    assert.match(held ?? '', /^held {10}paging\.empty: /)
    assert.match(
      broken ?? '',
      /^broken {8}paging\.last-cursor: .*\(extra: the contract leaves it open\)$/,
    )
    assert.equal(fault, '    fiat accounts: next_page_cursor is null')
    assert.equal(source, '    source: docs/integrating.md, “Pages”')
    const path = `request: GET ${server.url}/v2/transfer/fiat-accounts?ids=`
    assert.ok(request?.trim().startsWith(path))
    assert.match(answer ?? '', /^ {4}answer: 200 \{"items":\[\{"id":"[^"]+",.*…$/)
    assert.match(ran.out, /\n2 statements: 1 held, 1 broken \(1 extra\), 0 not testable\n$/)
  })

  test('names what was particular about headers and body of the request', async () => {
    await using server = await startWrongServer(service.url, {
      answer: ({ status }) => (status >= 400 ? { status: 418 } : {}),
    })
    const ran = await verify([
      '--target',
      server.url,
      ...of(borealis),
      '--json',
      '--only',
      'authorization.challenge',
      'authorization.invalid-token',
      'tokens.grant-type',
    ])
    const requests = statementsOf(ran).map(({ faults }) => faults[0]?.request)
    assert.deepEqual(requests, [
      `POST ${server.url}/oauth2/token (credentials by basic, grant_type=password)`,
      `GET ${server.url}/v2/transfer/fiat-accounts (without a token)`,
      `GET ${server.url}/v2/transfer/fiat-accounts (with another token)`,
    ])
  })

  test('shows no secret, token, name or account number that the server repeats', async () => {
    const secret = acme.clientSecret
    await using server = await startWrongServer(service.url, {
      answer: ({ text }, { headers, url }) => {
        if (!url.pathname.startsWith('/v2/')) return {}
        const token = headers.get('authorization') ?? ''
        const said = {
          secret,
          account_number: '5730008846',
          address1: '20 Harbour Way',
          said: `${token} ${secret}`,
          token,
        }
        return {
          status: 418,
          text: JSON.stringify({ ...said, first_name: 'Ada', also: '99887766', text }),
        }
      },
    })
    for (const format of [[], ['--json']]) {
      const ran = await verify([
        '--target',
        server.url,
        ...of(acme),
        '--only',
        'paging',
        'problems',
        ...format,
      ])
      assert.equal(ran.code, 1)
      const shown = ran.out + ran.err
      assert.ok(shown.includes('[removed]') && shown.includes('XXXXXX8846'), shown)
      for (const hidden of [
        secret,
        'eyJ',
        '5730008846',
        '99887766',
        'Ada',
        'Harbour',
        'Authorization: ',
      ]) {
        assert.ok(!shown.includes(hidden), `${hidden} in ${shown}`)
      }
    }
  })

  test('is an answer that no record can be read from, however it is built', async () => {
    const bodies = [
      '{"items":[null,1,"x",[],{"id":5,"constructor":1,"__proto__":{}}]}',
      `{"items":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      '{"items":[{"id":"a"},{"id":"b"}],"next_page_cursor":"same"}',
      'null',
      '[]',
      '{"items":null}',
      '{"items":[{"id":"../../x?y#z"}],"next_page_cursor":"\\u0000\\n"}',
    ]
    for (const body of isLong ? bodies : bodies.slice(0, 2)) {
      await using server = await listening((request, answer) => {
        answer.setHeader('content-type', 'application/json')
        if (request.url === '/oauth2/token') answer.end('{"access_token":"opaque-token"}')
        else answer.end(body)
      })
      const words = ['--target', server.url, ...of(acme), ...other(borealis), '--customer', 'acme']
      const ran = await verify([...words, '--allow-fees', '--json'])
      assert.equal(ran.code, 1, ran.err)
      assert.match(ran.err, /^\d+ statements are broken: [a-z-_., ()]+\n$/)
      assert.equal(statementsOf(ran).length, allStatements.length)
      assert.ok(!ran.out.includes('opaque-token'))
    }
  })

  test('is a request that gets no answer, half an answer, or one without an end', async () => {
    for (const [says, listener] of [
      [/^the connection broke off/, (_, answer) => void answer.destroy()],
      [
        /^the connection broke off/,
        (_, answer) => {
          answer.writeHead(200, { 'content-length': '100' })
          answer.write('{"items":[', () => answer.destroy())
        },
      ],
      [
        /^the answer has more than 8 MiB$/,
        (_, answer) => {
          answer.writeHead(200, { 'content-type': 'application/json' })
          const piece = Buffer.alloc(1024 * 1024, 32)
          const more = () => {
            while (!answer.destroyed && answer.write(piece)) {}
            answer.once('drain', more)
          }
          more()
        },
      ],
    ] satisfies [RegExp, RequestListener][]) {
      await using server = await listening((request, answer) => {
        if (request.url === '/oauth2/token') answer.end('{"access_token":"opaque"}')
        else listener(request, answer)
      })
      const ran = await verify([
        '--target',
        server.url,
        ...of(acme),
        '--json',
        '--only',
        'paging.envelope',
      ])
      assert.equal(ran.code, 1)
      for (const fault of statementsOf(ran)[0]?.faults ?? []) {
        assert.match(fault.says ?? '', says)
        assert.equal(fault.answer, 'none')
      }
    }
  })
})

test('docs/verifying.md has a row for each group of statements', () => {
  const text = readFileSync(new URL('../../../docs/verifying.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `([a-z]+)` /gm)].map(([, group]) => group)
  const groups = allStatements.map(({ id }) => id.split('.')[0])
  assert.deepEqual(rows.toSorted(), [...new Set(groups)].toSorted())
  assert.equal(new Set(allStatements.map(({ id }) => id)).size, allStatements.length)
})

describe('exit code 2', () => {
  const saying = async (words: readonly string[], expected: RegExp) => {
    const ran = await verify(words)
    assert.deepEqual([ran.code, ran.out], [2, ''], ran.err)
    assert.match(ran.err, expected)
    assert.ok(!ran.err.includes(acme.clientSecret))
  }

  test('means an option that is missing or wrong', async () => {
    const target = ['--target', service.url]
    await saying(of(acme), /^error: required option '--target <url>' not specified\n/)
    await saying(target, /^error: required option '--client-id <id>' not specified\n/)
    const anId = ['--client-id', 'a']
    await saying(
      [...target, ...anId],
      /^--client-secret must be given, or VERIFY_CLIENT_SECRET set\n$/,
    )
    await saying([...target, ...of(acme), '--other-client-id', 'b'], /^--other-client-id needs /)
    await saying(
      [...target, ...of(acme), '--only', 'nothing'],
      /^--only nothing: there is no such /,
    )
    await saying(['--target', 'api', ...of(acme)], /^--target must be a URL such as /)
    await saying(['--target', 'http://u:p@api', ...of(acme)], /^--target must have no user and no /)
    await saying(['--target', 'http://a\r', ...of(acme)], /^--target has the invisible character /)
    await saying([...target, '--token-url', 'ftp://a', ...of(acme)], /^--token-url must be a URL /)
  })

  test('means a target that cannot be reached', async () => {
    const gone = await listening(() => {})
    await gone[Symbol.asyncDispose]()
    const at = (target: string) => ['--target', target, ...of(acme)]
    const { host } = new URL(gone.url)
    await saying(
      at(gone.url),
      new RegExp(
        `^${host} cannot be reached \\(ECONNREFUSED\\); check that the server runs there\n$`,
      ),
    )
    await saying(
      at(service.url.replace('http:', 'https:')),
      /^127\.0\.0\.1:\d+ does not speak TLS as expected \(\w+\); check http or https in the URL\n$/,
    )
  })

  test('means a target that goes away during the run', async () => {
    await using server = await listening((_, answer) => {
      answer.setHeader('connection', 'close')
      answer.end('{"access_token":"opaque-token"}')
      server.stop()
    })
    await saying(
      ['--target', server.url, ...of(acme), '--json'],
      / cannot be reached \(ECONNREFUSED\)/,
    )
  })

  test('means a client that gets no token', async () => {
    const wrong = ['--client-id', acme.clientId, '--client-secret', 'wrong']
    await saying(
      ['--target', service.url, ...wrong],
      /^the token endpoint http\S+\/oauth2\/token refuses the client; check its id and secret\n$/,
    )
    await saying(
      ['--target', service.url, '--token-url', `${service.url}/token`, ...of(acme)],
      /^there is no token endpoint at http\S+\/token \(HTTP 404\); name it with --token-url\n$/,
    )
    await using mute = await listening((_, answer) => void answer.end('{"access_token":""}'))
    await saying(['--target', mute.url, ...of(acme)], /answers HTTP 200 and no token/)
  })
})

/** A server of a few lines. */
async function listening(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    /** Takes no new connection. */
    stop: () => void server.close(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}
