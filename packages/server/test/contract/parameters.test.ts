import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListOperation, Operation } from '@bursar/contract'
import {
  assertParameterErrors,
  assertProblem,
  errorOf,
} from '../../../../test/support/assert-answer.ts'
import { contractReads } from '../../../../test/support/contract.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, type Called } from '../../../../test/support/harness.ts'
import { gets, lists, pathOf, reads, withdrawal } from '../../../../test/support/operation-calls.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'

const service = describeService()

/** The parameters of the contract and their types. The tests of every list cover its own three. */
const parametersOf = ({ path }: Operation): Readonly<Record<string, string>> =>
  contractReads[path.replace(':id', '{id}')]?.parameters ?? {}

const ownOf = (operation: Operation): [name: string, type: string][] =>
  Object.entries(parametersOf(operation))
    .map(([name, type]): [string, string] => [name.replace(/!$/, ''), type])
    .filter(([name]) => !['id', 'limit', 'order', 'order_by', 'page_cursor'].includes(name))

const isArray = (type: string): boolean => type.startsWith('array')
const entriesMaxOf = (type: string): number => Number(/^array<=(\d+)/.exec(type)?.[1] ?? 1)

/** The values of an enum; none for another type. */
const membersOf = (type: string): string[] =>
  type.includes('|') ? type.replace(/^.* of /, '').split('|') : []

const aUuid = 'ffffffff-ffff-4fff-bfff-ffffffffffff'
const wide = (text: string): string =>
  [...text].map((digit) => String.fromCodePoint(0xfee0 + (digit.codePointAt(0) ?? 0))).join('')

const badUuids = [
  '',
  'x',
  aUuid.slice(1),
  `${aUuid}0`,
  `{${aUuid}}`,
  aUuid.replaceAll('-', ''),
  `urn:uuid:${aUuid}`,
  ` ${aUuid}`,
  `${aUuid}\n`,
  aUuid.replace('f', 'g'),
  `${aUuid},${aUuid}`,
  aUuid.replaceAll('-', '‐'),
  wide(aUuid),
  "' or 1=1 --",
]

const badTexts = ['', 'x'.repeat(201), '🙂'.repeat(201)]

const badInstants = [
  '',
  'now',
  '2026-01-31',
  '2026-01-31T09:30:00',
  '2026-01-31 09:30:00Z',
  '2026-01-31T09:30Z',
  '2026-1-31T09:30:00Z',
  '2026-02-29T00:00:00Z',
  '2100-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T09:60:00Z',
  '2026-01-31T09:30:60Z',
  '2026-12-31T23:59:60Z',
  '2026-01-31T09:30:00.Z',
  '2026-01-31T09:30:00.0123456789Z',
  '2026-01-31T09:30:00,5Z',
  '2026-01-31T09:30:00+0200',
  '2026-01-31T09:30:00+24:00',
  '2026-01-31T09:30:00+02:60',
  '2026-01-31T09:30:00ZZ',
  ' 2026-01-31T09:30:00Z',
  '2026-01-31T09:30:00Z\n',
  '02026-01-31T09:30:00Z',
  '+2026-01-31T09:30:00Z',
  '0000-01-01T00:00:00Z',
  '1767225600',
  '2026-W05-6T09:30:00Z',
  wide('2026-01-31T09:30:00Z'),
]

const badFlags = [
  '',
  'tRUE',
  'TrUe',
  'fALSE',
  'y',
  'yes',
  'on',
  'null',
  '2',
  '01',
  '-1',
  ' true',
  'true ',
  'true,false',
  'true\n',
  wide('1'),
]

/** The forms of Go's ParseBool. */
const flags = {
  true: ['1', 't', 'T', 'TRUE', 'true', 'True'],
  false: ['0', 'f', 'F', 'FALSE', 'false', 'False'],
}

const badLimits = [
  '',
  '0',
  '1001',
  '-1',
  '1e2',
  '1.0',
  '+1',
  ' 10',
  '10 ',
  '0x10',
  '1_000',
  '1,000',
  'NaN',
  'ten',
  '10\n',
  wide('10'),
  '2147483648',
  '4294967297',
  '9'.repeat(40),
]

const badOrders = ['', 'desc', 'asc', 'Desc', 'ASCENDING', 'ASC ', 'DESC,ASC']

const reasons = {
  uuid: (given: string) =>
    `must be uuid, given '${[...given.replaceAll(/[\p{Cc}\p{Cf}]/gu, '')].slice(0, 100).join('')}'`,
  text: 'must be 1 to 200 characters long',
  instant: 'must be an RFC 3339 date-time such as 2026-01-31T09:30:00Z',
  leapSecond: 'must not be in a leap second (:60), which is not taken; send :59',
  flag: 'must be true or false',
  limit: 'must be between 1 and 1000',
  member: (all: readonly string[]) => `must be ${all.slice(0, -1).join(', ')} or ${all.at(-1)}`,
  once: 'must be given once',
  encoded: 'must be percent-encoded UTF-8',
  tooMany: (most: number) => `must have at most ${most} entries, given ${most + 1}`,
}

const nulError = [['query', 'must not contain a NUL']] as const

/** Values that a parameter refuses, each with the expected reason. */
function refusedBy(type: string): readonly (readonly [string, string])[] {
  if (type.endsWith('uuid')) return badUuids.map((value) => [value, reasons.uuid(value)])
  if (type.endsWith('date-time')) {
    const reasonOf = (value: string) =>
      value.endsWith(':60Z') ? reasons.leapSecond : reasons.instant
    return badInstants.map((value) => [value, reasonOf(value)])
  }
  if (type === 'boolean') return badFlags.map((value) => [value, reasons.flag])
  const members = membersOf(type)
  const [first, second] = members
  if (first === undefined) return badTexts.map((value) => [value, reasons.text])
  const bad = ['', 'X', first.toLowerCase(), ` ${first}`, `${first},${second}`, first.slice(1)]
  return bad.map((value) => [value, reasons.member(members)])
}

function validOf(name: string, type: string): string {
  if (name === 'customer_id') return 'acme'
  if (type.endsWith('uuid')) return aUuid
  if (type.endsWith('date-time')) return '2026-01-31T09:30:00Z'
  if (type === 'boolean') return 'true'
  return membersOf(type)[0] ?? 'some-text'
}

const instanceOf = (operation: Operation): string => pathOf(operation).split('?')[0] ?? ''

/** Calls with a raw query. Adds customer_id when it is required and the query lacks it. */
function callWith(operation: Operation, query: string): Promise<Called> {
  const required = operation.id === 'listStatements' && !query.includes('customer_id')
  return service.call(`${instanceOf(operation)}?${required ? 'customer_id=acme&' : ''}${query}`)
}

const valuesOf = (called: Called, list: ListOperation): unknown => called.body[list.envelope]

test('the operations declare exactly the parameters of the contract', () => {
  for (const operation of reads) {
    const names = Object.keys(parametersOf(operation)).map((name) => name.replace(/!$/, ''))
    assert.deepEqual(
      Object.keys(operation.query).toSorted(),
      names.filter((name) => name !== 'id').toSorted(),
      operation.id,
    )
  }
})

for (const operation of reads) {
  const instance = instanceOf(operation)
  for (const [name, type] of ownOf(operation)) {
    describe(`${operation.id}: ${name}`, () => {
      test('refuses every malformed value', async () => {
        for (const [value, reason] of refusedBy(type)) {
          const called = await callWith(operation, `${name}=${encodeURIComponent(value)}`)
          const isJoined = isArray(type) && value.includes(',')
          const told = isJoined
            ? `${reason}; repeat the key, since commas do not separate values`
            : reason
          const detail = isJoined
            ? `${name} ${reason}; commas do not separate values, so repeat ${name}=`
            : `${name} ${reason}`
          assertParameterErrors(called, instance, [[name, told]], JSON.stringify(value), detail)
        }
      })

      test('refuses a name without a value, an invalid percent escape and a NUL', async () => {
        const [, reasonOfEmpty = ''] = refusedBy(type).find(([value]) => value === '') ?? []
        assertParameterErrors(await callWith(operation, name), instance, [[name, reasonOfEmpty]])
        for (const malformed of ['%', '%f', '%zz', '%ff', '%ed%a0%80', '%c0%80']) {
          const called = await callWith(operation, `${name}=a${malformed}`)
          assertParameterErrors(called, instance, [[name, reasons.encoded]], malformed)
        }
        const called = await callWith(operation, `${name}=a%00b`)
        assertParameterErrors(called, instance, nulError)
      })

      if (isArray(type)) {
        const good = validOf(name, type)
        const most = entriesMaxOf(type)
        test(`accepts ${most} entries and refuses one more, even when all are equal`, async () => {
          const entries = (count: number) => Array<string>(count).fill(`${name}=${good}`).join('&')
          assert.equal((await callWith(operation, entries(most))).status, 200)
          assertParameterErrors(await callWith(operation, entries(most + 1)), instance, [
            [name, reasons.tooMany(most)],
          ])
        })

        test('may be written as name[] and name[0]; all spellings count together', async () => {
          const plain = await callWith(operation, `${name}=${good}`)
          for (const spelling of [`${name}[]`, `${name}[0]`, `${name}%5B%5D`, `${name}%5b12%5d`]) {
            const called = await callWith(operation, `${spelling}=${good}`)
            assert.equal(called.status, 200, spelling)
            assert.deepEqual(itemsOf(called, operation), itemsOf(plain, operation), spelling)
          }
          const mixed = [name, `${name}[]`, `${name}[1]`].map((spelling) => `${spelling}=${good}`)
          const many = [...mixed, ...Array<string>(most - 2).fill(`${name}[]=${good}`)]
          assertParameterErrors(await callWith(operation, many.join('&')), instance, [
            [name, reasons.tooMany(most)],
          ])
        })
      } else {
        test('refuses to be given twice, even with the same value', async () => {
          const good = validOf(name, type)
          const called = await callWith(operation, `${name}=${good}&${name}=${good}`)
          assertParameterErrors(called, instance, [[name, reasons.once]])
        })
      }

      // Which times `as_of` may name, the tests of past reads know.
      if (type.endsWith('date-time') && name !== 'as_of') {
        test('may be written as a nested key, plain or percent-encoded', async () => {
          const [parameter = '', key = ''] = name.split('.')
          const plain = await callWith(operation, `${name}=2099-01-01T00:00:00Z`)
          for (const spelling of [`${parameter}[${key}]`, `${parameter}%5B${key}%5d`]) {
            const called = await callWith(operation, `${spelling}=2099-01-01T00:00:00Z`)
            assert.deepEqual(itemsOf(called, operation), itemsOf(plain, operation), spelling)
            assertParameterErrors(await callWith(operation, `${spelling}=x`), instance, [
              [name, reasons.instant],
            ])
            const twice = `${spelling}=2099-01-01T00:00:00Z&${name}=2099-01-01T00:00:00Z`
            assertParameterErrors(await callWith(operation, twice), instance, [
              [name, reasons.once],
            ])
          }
        })

        test('accepts every RFC 3339 form, and a space where decoding replaced a plus', async () => {
          const forms = [
            '2026-10-31T00:00:00Z',
            '2026-10-31t00:00:00z',
            '2026-10-31T00:00:00.0Z',
            '2026-10-31T00:00:00.000000000Z',
            '2026-10-31T00:00:00%2B00:00',
            '2026-10-31T00:00:00-00:00',
            '2026-10-31T02:00:00%2B02:00',
            '2026-10-31T02:00:00+02:00',
            '2026-10-31T02:00:00%2002:00',
            '2026-10-30T23:15:00-00:45',
            '2026-10-30T00:01:00-23:59',
          ]
          const first = await callWith(operation, `${name}=${forms[0]}`)
          assert.equal(first.status, 200)
          for (const form of forms) {
            const called = await callWith(operation, `${name}=${form}`)
            assert.equal(called.status, 200, form)
            assert.deepEqual(itemsOf(called, operation), itemsOf(first, operation), form)
          }
          for (const extreme of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z']) {
            assert.equal((await callWith(operation, `${name}=${extreme}`)).status, 200, extreme)
          }
        })
      }

      if (type === 'boolean') {
        test('accepts the twelve forms of a boolean, with the same meaning', async () => {
          for (const [meaning, forms] of Object.entries(flags)) {
            const plain = await callWith(operation, `${name}=${meaning}`)
            assert.equal(plain.status, 200)
            for (const form of forms) {
              const called = await callWith(operation, `${name}=${form}`)
              assert.equal(
                called.text.replace(/,"next_page_cursor.*/, ''),
                plain.text.replace(/,"next_page_cursor.*/, ''),
                form,
              )
            }
          }
        })
      }
    })
  }
}

const itemsOf = (called: Called | undefined, operation: Operation): unknown =>
  called?.body[(operation as ListOperation).envelope]

for (const list of lists) {
  const instance = instanceOf(list)
  describe(`${list.id}: the parameters of every list`, () => {
    test('refuses every limit except the whole numbers 1 to 1000', async () => {
      for (const value of badLimits) {
        const called = await callWith(list, `limit=${encodeURIComponent(value)}`)
        assertParameterErrors(called, instance, [['limit', reasons.limit]], JSON.stringify(value))
      }
      assertParameterErrors(await callWith(list, 'limit=1&limit=1'), instance, [
        ['limit', reasons.once],
      ])
      for (const good of ['1', '1000', '007']) {
        assert.equal((await callWith(list, `limit=${good}`)).status, 200, good)
      }
    })

    test('refuses every order except DESC and ASC', async () => {
      for (const value of badOrders) {
        const called = await callWith(list, `order=${encodeURIComponent(value)}`)
        assertParameterErrors(called, instance, [['order', 'must be DESC or ASC']], value)
      }
      assertParameterErrors(await callWith(list, 'order=ASC&order=ASC'), instance, [
        ['order', reasons.once],
      ])
    })

    test('validates order_by where the contract has it and ignores it elsewhere', async () => {
      const plain = await callWith(list, '')
      const named = await callWith(list, 'order_by=CREATED_AT')
      assert.deepEqual(valuesOf(named, list), valuesOf(plain, list))
      const bad = await callWith(list, 'order_by=created_at')
      if (!('order_by' in list.query)) assert.equal(bad.status, 200)
      else assertParameterErrors(bad, instance, [['order_by', 'must be CREATED_AT']])
    })

    test('ignores unknown parameters and names them in X-Ignored-Parameters', async () => {
      const plain = await callWith(list, 'limit=3')
      assert.equal(plain.headers.get('x-ignored-parameters'), null)
      for (const [query, named] of [
        ['ref_id=x&cursor=y&page=2', 'ref_id, cursor, page'],
        ['tenant=borealis', 'tenant'],
        ['__proto__=1', '__proto__'],
        ['constructor[]=1&x[y]=1&created_at[]=1', 'constructor[], x[y], created_at[]'],
        ['a%zz=%zz', 'a%zz'],
        ['&&', null],
        ['=', null],
        ['=x', null],
        ['LIMIT=0', 'LIMIT'],
        ['x=1&x=2&x', 'x'],
        ['customer%49d=borealis', 'customerId'],
      ] as const) {
        const called = await callWith(list, `limit=3&${query}`)
        assert.equal(called.status, 200, query)
        assert.deepEqual(valuesOf(called, list), valuesOf(plain, list), query)
        assert.equal(called.headers.get('x-ignored-parameters'), named, query)
      }
    })

    test('names a filter with several values in one in X-Joined-Parameters, where none matches', async () => {
      const filters = ownOf(list).filter(([, type]) => validOf('', type) === 'some-text')
      for (const [name] of filters) {
        const joined = ['A,B', 'A%2C%20B', '%5B%22A%22%5D', '%7B%22A%22%3A1%7D']
        for (const value of [...joined, 'A', ',', 'A,', '%5BA']) {
          const called = await callWith(list, `${name}=${value}`)
          const expected = joined.includes(value) ? name : null
          assert.deepEqual(
            [called.status, valuesOf(called, list), called.headers.get('x-joined-parameters')],
            [200, [], expected],
            `${name}=${value}`,
          )
        }
      }
      const matched = await callWith(list, 'limit=3')
      assert.equal(matched.headers.get('x-joined-parameters'), null)
    })

    test('treats an empty page_cursor as the first page and refuses malformed or repeated ones', async () => {
      const plain = await callWith(list, 'limit=3')
      const called = await callWith(list, 'limit=3&page_cursor=')
      assert.deepEqual(valuesOf(called, list), valuesOf(plain, list))
      assertParameterErrors(await callWith(list, 'page_cursor=&page_cursor='), instance, [
        ['page_cursor', reasons.once],
      ])
      assertParameterErrors(await callWith(list, 'page_cursor=x'), instance, [
        ['page_cursor', 'token cannot be parsed'],
      ])
    })

    test('refuses a NUL anywhere, even in an unknown parameter', async () => {
      for (const query of ['x=%00', '%00=x', 'x%00', 'limit=1%00', 'page_cursor=%00']) {
        assertParameterErrors(await callWith(list, query), instance, [
          ['query', 'must not contain a NUL'],
        ])
      }
    })

    test('names every invalid parameter in one answer', async () => {
      const [idsName = ''] = Object.keys(list.query).filter((name) =>
        /^(statement_)?ids$/.test(name),
      )
      const called = await callWith(
        list,
        `order=up&limit=0&ref_ids=&${idsName}=x&page_cursor=ignored`,
      )
      assert.equal(called.status, 400)
      assert.deepEqual(
        called.body.meta.errors.toSorted(byParameter),
        [
          { parameter: idsName, code: 'malformed', reason: reasons.uuid('x') },
          { parameter: 'ref_ids', code: 'wrong_length', reason: reasons.text },
          { parameter: 'limit', code: 'out_of_range', reason: reasons.limit },
          { parameter: 'order', code: 'unknown_value', reason: 'must be DESC or ASC' },
        ].toSorted(byParameter),
      )
    })
  })
}

describe('X-Ignored-Parameters', () => {
  const list = '/v2/transfer/fiat-accounts'
  const namedBy = async (query: string): Promise<string | null> =>
    (await service.call(`${list}?${query}`)).headers.get('x-ignored-parameters')

  test('names at most ten parameters, each cut to 100 characters', async () => {
    const twelve = Array.from({ length: 12 }, (_, at) => `p${at}`)
    assert.equal(await namedBy(twelve.join('&')), twelve.slice(0, 10).join(', '))
    const long = '-'.repeat(5000)
    assert.equal(await namedBy(`${long}=1`), '-'.repeat(100))
  })

  test('is safe in a header and withholds what may be a secret', async () => {
    assert.equal(await namedBy('a%0d%0aSet-Cookie:x=1'), 'aSet-Cookie:x')
    assert.equal(await namedBy('a%2c%20b=1'), 'a??b')
    assert.equal(await namedBy(`%e2%80%ae=1&${encodeURIComponent('é🙂')}=1`), '?, ???')
    assert.equal(await namedBy(`${'S'.repeat(56)}=1`), '[withheld]')
  })

  test('is part of every answer: a 400, a 404, a 304, a get and a write', async () => {
    const known = await service.call(`${list}?limit=1&customerId=acme`)
    const etag = String(known.headers.get('etag'))
    const foreign = `${list}/${aUuid}`
    const body = JSON.stringify(withdrawal)
    for (const [path, status, options] of [
      ['/v2/statements?customerId=acme', 400, {}],
      [`${list}?limit=1&customerId=acme`, 304, { headers: { 'if-none-match': etag } }],
      [`${foreign}?customerId=acme`, 404, {}],
      [`${pathOf(operationOf('getFiatAccount'))}?customerId=acme`, 200, {}],
      ['/v2/transfer/fees/crypto-withdrawal?customerId=acme', 200, { method: 'POST', body }],
    ] as const) {
      const called = await service.call(path, options)
      assert.deepEqual(
        [called.status, called.headers.get('x-ignored-parameters')],
        [status, 'customerId'],
        path,
      )
    }
  })
})

test('a NUL in the query of a write is refused', async () => {
  const path = '/v2/transfer/fees/crypto-withdrawal'
  const called = await service.call(`${path}?x=%00`, { method: 'POST', body: '{}' })
  assertParameterErrors(called, path, nulError)
})

const operationOf = (id: string): Operation => {
  const found = reads.find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`no operation ${id}`)
  return found
}

type Fault = { readonly parameter: string; readonly reason: string }
const byParameter = (a: Fault, b: Fault): number => (a.parameter < b.parameter ? -1 : 1)

describe('listStatements', () => {
  test('names a missing customer_id beside other invalid parameters', async () => {
    const instance = '/v2/statements'
    assertParameterErrors(await service.call(instance), instance, [['customer_id', 'must be set']])
    const called = await service.call(`${instance}?limit=0`)
    assert.deepEqual(called.body.meta.errors.toSorted(byParameter), [
      { parameter: 'customer_id', code: 'missing', reason: 'must be set' },
      { parameter: 'limit', code: 'out_of_range', reason: reasons.limit },
    ])
  })
})

describe('an id in the path', () => {
  for (const get of gets) {
    const wording = (given: string) =>
      get.id === 'getFiatAccount'
        ? `id must be uuid, given '${given}'`
        : `expected uuid, got ${given}`

    test(`of ${get.id} matches in either case`, async () => {
      const lower = await service.call(pathOf(get))
      const upper = await service.call(get.path.replace(':id', lower.body.id.toUpperCase()))
      assert.equal(upper.status, 200)
      assert.deepEqual(upper.body, lower.body)
    })

    test(`of ${get.id} must be a UUID`, async () => {
      for (const bad of badUuids.filter((value) => value !== '')) {
        const path = get.path.replace(':id', encodeURIComponent(bad))
        const given = [...bad.replaceAll(/[\p{Cc}\p{Cf}]/gu, '')].slice(0, 100).join('')
        const called = await service.call(path)
        assertProblem(
          called,
          {
            status: 400,
            detail: wording(given),
            instance: called.body.instance,
            meta: { errors: [errorOf('id', `must be uuid, given '${given}'`)] },
          },
          JSON.stringify(bad),
        )
      }
    })

    test(`of ${get.id} that is empty is refused with the path of the list`, async () => {
      const path = get.path.replace(':id', '')
      const reason = `must be set: the path ends in a slash, and the list is ${path.slice(0, -1)}`
      assertParameterErrors(await service.call(path), path, [['id', reason]])
    })

    test(`of ${get.id} cannot smuggle a NUL, a path or a header`, async () => {
      const token = await service.tokenOf(acme)
      for (const hidden of [
        '%00',
        `${aUuid}%00`,
        '%2e%2e%2fx',
        '..%2F..%2Fetc',
        '%0d%0aSet-Cookie:x=1',
        `${aUuid};x=1`,
      ]) {
        const answer = await rawRequest(service.url, get.path.replace(':id', hidden), {
          headers: ['authorization', `Bearer ${token}`],
        })
        assert.equal(answer.status, 400, hidden)
        assert.equal(answer.headers['content-type'], 'application/problem+json', hidden)
        assert.equal(answer.headers['set-cookie'], undefined, hidden)
      }
    })
  }
})
