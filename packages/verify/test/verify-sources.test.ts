import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeService } from '../../../test/support/describe-service.ts'
import { acme, borealis } from '../../../test/support/harness.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { type Answered, type Asked, startWrongServer, type Wrong } from './support/wrong-server.ts'
import { isList, type Json, withQuery } from './support/wrong-servers/mutations.ts'

/** Which faults break the contract, and which what Bursar has settled beyond it. */

const service = describeService()

const verify = (url: string, ...words: readonly string[]) =>
  runBursar('sqlite:none.db', [
    'verify',
    '--target',
    url,
    '--client-id',
    borealis.clientId,
    '--client-secret',
    borealis.clientSecret,
    '--other-client-id',
    acme.clientId,
    '--other-client-secret',
    acme.clientSecret,
    '--allow-fees',
    ...words,
  ])

/** Members and parameters of Bursar that the contract does not show. */
const additions = ['networks', 'addresses', 'memo_ids', 'no_such_parameter']

/**
 * A server that does what the contract states, and differs from Bursar in everything else. It has
 * no list of deposit instructions, no status in lists, and no caching. It shows full numbers, has
 * another form of problems and a smaller page of statements, and takes a larger limit as the
 * largest.
 */
const ofContractOnly: Wrong = {
  ...withQuery((query, { url }) => {
    for (const name of additions) query.delete(name)
    if (url.pathname.endsWith('issuer-quotes')) {
      query.delete('ids')
      query.delete('ref_ids')
    }
    if (Number(query.get('limit')) > 1000) query.set('limit', '1000')
    if (query.get('order') === 'asc') query.set('order', 'ASC')
  }),
  answer: ({ status, headers, text }, asked): Partial<Answered> => {
    const { pathname } = asked.url
    if (pathname === '/v2/transfer/fiat-deposit-instructions') return refused(404)
    const isLong = isList(asked, '/statements') && Number(asked.url.searchParams.get('limit')) > 500
    if (isLong) return refused(422)
    if (status >= 400 && pathname.startsWith('/v2/')) return refused(status === 400 ? 422 : status)
    const kept = new Headers({ 'content-type': headers.get('content-type') ?? '' })
    if (!isList(asked, '/fiat-accounts')) return { headers: kept }
    const body = JSON.parse(text)
    const items = body.items.map(({ status: _status, ...account }: Json) => account)
    const shown = JSON.stringify({ ...body, items }).replaceAll(/X+(?=\w{4}")/g, '5730')
    return { headers: kept, text: shown.replaceAll(/(?<="created_at":"[^"]*)Z"/g, '+00:00"') }
  },
}

const refused = (status: number): Answered => ({
  status,
  headers: new Headers({ 'content-type': 'text/plain' }),
  text: 'no',
})

describe('a server that keeps the contract and differs from Bursar elsewhere', () => {
  test('breaks extra statements only, and none with --contract', async () => {
    await using server = await startWrongServer(service.url, ofContractOnly)
    const every = await verify(server.url, '--json')
    const { statements, broken, broken_extra } = JSON.parse(every.out)
    const ofContract = statements.filter(
      ({ verdict, source }: Json) => verdict === 'broken' && source === 'contract',
    )
    assert.deepEqual(ofContract, [])
    assert.equal(every.code, 1)
    assert.ok(broken === broken_extra && broken > 10, String(broken))
    const stated = await verify(server.url, '--contract')
    assert.equal(stated.code, 0, stated.out)
    assert.match(stated.out, /\n\d+ statements: \d+ held, 0 broken, \d+ not testable\n$/)
    for (const extra of ['masking.owner', 'isolation.reads', 'additions.networks']) {
      assert.ok(!stated.out.includes(extra), extra)
    }
  })

  test('has no fault of the contract in the list of deposit instructions', async () => {
    await using server = await startWrongServer(service.url, {
      answer: ({ text }, asked) =>
        isList(asked, '/fiat-deposit-instructions')
          ? { text: text.replaceAll('"status":"VALID"', '"status":"OTHER"') }
          : {},
    })
    const ran = await verify(server.url, '--json', '--only', 'values.enums')
    const [{ faults, source }] = JSON.parse(ran.out).statements
    assert.equal(source, 'extra')
    assert.equal(faults.length, 1)
    assert.match(faults[0].cited, /^the contract mentions this list in section 4\.4/)
    assert.equal(ran.err, '1 statement is broken: values.enums (extra)\n')
    const stated = await verify(server.url, '--contract', '--only', 'values.enums')
    assert.equal(stated.code, 0, stated.out)
  })
})

describe('an answer that cannot be decoded', () => {
  const isApi = ({ url }: Asked) => url.pathname.startsWith('/v2/')
  const servers: readonly (readonly [RegExp, Wrong])[] = [
    [
      /^the answer cannot be decoded as its Content-Encoding says \(Z_DATA_ERROR\) \(\d+ of \d+ /,
      {
        answer: ({ headers }, asked) => {
          const coded = new Headers(headers)
          coded.set('content-encoding', 'gzip')
          return isApi(asked) ? { headers: coded } : {}
        },
      },
    ],
    [
      /^the answer is not JSON \(\d+ of \d+ requests\)$/,
      { answer: ({ text }, asked) => (isApi(asked) ? { text: text.slice(0, -1) } : {}) },
    ],
  ]

  test('is one finding of one fault, however many statements need it', async () => {
    for (const [says, wrong] of servers) {
      await using server = await startWrongServer(service.url, wrong)
      const ran = await verify(server.url, '--json')
      const found = JSON.parse(ran.out).statements.filter(
        ({ verdict }: Json) => verdict === 'broken',
      )
      assert.deepEqual(
        found.map(({ id, source }: Json) => [id, source]),
        [['answers.decodable', 'contract']],
      )
      assert.equal(found[0].faults.length, 1)
      assert.match(found[0].faults[0].says, says)
    }
  })

  test('is reported whichever statements are chosen', async () => {
    await using server = await startWrongServer(service.url, servers[1]?.[1] ?? {})
    const ran = await verify(server.url, '--only', 'masking')
    assert.equal(ran.err, '1 statement is broken: answers.decodable\n')
  })

  test('shows no name and no number of its text', async () => {
    const text =
      '{"items":[{"account_number":"99887766","first_name":"Ada \\"A\\"","zip_code":4455667,"name":"Ex'
    await using server = await startWrongServer(service.url, {
      answer: (_, asked) => (isApi(asked) ? { text } : {}),
    })
    const { out } = await verify(server.url, '--only', 'masking')
    assert.match(out, /"account_number":"XXXX7766","first_name":"\[removed\]"/)
    for (const hidden of ['99887766', 'Ada', '4455667', 'Ex"', ':"Ex']) {
      assert.ok(!out.includes(hidden), `${hidden} in ${out}`)
    }
  })
})
