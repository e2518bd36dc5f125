import '@bursar/server'
import { limitNamed } from '@bursar/base'
import type { ListOperation } from '@bursar/contract'
import { lists } from '../../test/support/operation-calls.ts'
import { bytesOf, fill, fillWith, type WorstRequest } from './worst-requests.ts'

/** A list's page is not part of the cost, so its operation and query are named beside it. */
export type CustomersRequest = WorstRequest & {
  readonly page?: { readonly operation: ListOperation; readonly rawQuery: string }
}

/** The largest requests that a customer's own token admits. */
export const customersRequests = (token: string): readonly CustomersRequest[] => [
  ...lists.map((operation) => filtered(operation, token)),
  ...Object.entries(queries(room - token.length)).map(([name, query]) => ({
    name,
    bytes: bytesOf({
      target: `/v2/statements?${query}`,
      headers: [`authorization: Bearer ${token}`],
    }),
  })),
  ...Object.entries(bodies).map(([name, body]) => ({
    name,
    bytes: bytesOf({
      method: 'POST',
      target: '/v2/transfer/fees/crypto-withdrawal',
      headers: [`authorization: Bearer ${token}`],
      body,
    }),
  })),
]

const room = limitNamed('headerBytesMax') - 500
const bodyRoom = limitNamed('bodyBytesMax') - 300

/** Every array filter with as many entries as it may have and the headers hold, of one record. */
function filtered(operation: ListOperation, token: string): CustomersRequest {
  const arrays = Object.entries(operation.query).filter(([, field]) => 'each' in field)
  const share = (room - token.length) / arrays.length
  const filters = arrays.map(([name, field]) => {
    const entriesMax = 'each' in field ? field.entriesMax : 0
    const entryOf = (at: number) => ('each' in field ? entriesOf(field.each, at) : '')
    const unit = (at: number) => (at < entriesMax ? `${name}=${entryOf(at)}&` : '')
    return Array.from({ length: entriesMax }, (_, at) => unit(at))
      .join('')
      .slice(0, share)
      .replace(/[^&]*$/, '')
  })
  const rawQuery = `customer_id=acme&limit=1&${filters.join('').slice(0, -1)}`
  return {
    name: `every filter of ${operation.id}`,
    bytes: bytesOf({
      target: `${operation.path}?${rawQuery}`,
      headers: [`authorization: Bearer ${token}`],
    }),
    page: { operation, rawQuery },
  }
}

/** An entry that its field accepts: a UUID, an enum's member, or a text. */
function entriesOf({ schema }: { readonly schema: object }, at: number): string {
  if ('format' in schema) return `aaaaaaaa-aaaa-4aaa-8aaa-${String(at).padStart(12, '0')}`
  return 'enum' in schema && Array.isArray(schema.enum)
    ? String(schema.enum[at % schema.enum.length])
    : String(at)
}

const queries = (length: number): Readonly<Record<string, string>> => ({
  'the most pairs': fill('a&', 2 * (limitNamed('parametersMax') - 1)),
  'too many pairs': fill('a&', length),
  'the most pairs with escapes': fillWith(() => '%41%41=%41%41%41%41%41&', length),
  'the most pairs with bad escapes': fill('%zz=%zz&', 8 * (limitNamed('parametersMax') - 1)),
  'the most pairs with names that are not UTF-8': fill(
    '%ff=a&',
    6 * (limitNamed('parametersMax') - 1),
  ),
  'too many entries': fill('statement_ids=a&', 16 * (limitNamed('parametersMax') - 1)),
  'a long id': `statement_ids=${fill('a', length)}`,
  'an id of emoji': `statement_ids=${fill('%F0%9F%99%82', length)}`,
  'a long reference': `ref_ids=${fill('a', length)}`,
  'a reference of blanks': `ref_ids=${fill('+', length)}`,
  'a long limit': `limit=${fill('1', length)}`,
  'a long cursor': `page_cursor=${fill('A', length)}`,
  'a fault in every parameter': ['customer_id', 'statement_ids', 'ref_ids', 'statuses', 'limit']
    .map((name) => `${name}=${fill('%F0%9F%99%82', length / 5 - 20)}`)
    .join('&'),
})

const bodies: Readonly<Record<string, string>> = {
  'JSON that is nested': `{"a":${'['.repeat(bodyRoom / 2)}${']'.repeat(bodyRoom / 2)}}`,
  'JSON that does not end': `{"a":${fill('[', bodyRoom)}`,
  'JSON of objects in objects': `${fill('{"a":', bodyRoom - 3000)}1${fill('}', 2600)}`,
  'JSON of many members': `{${fillWith((at) => `"${at.toString(36)}":0,`, bodyRoom)}"z":0}`,
  'JSON of one member many times': `{${fill('"a":0,', bodyRoom)}"a":0}`,
  'JSON of numbers': `{"a":[${fill('1e9,', bodyRoom)}1]}`,
  'JSON of a long number': `{"a":0.${fill('9', bodyRoom)}}`,
  'JSON of escapes': `{"a":"${fill('\\u0041', bodyRoom)}"}`,
  'a long amount': withdrawal({ amount: fill('1', bodyRoom) }),
  'a long asset': withdrawal({ asset: fill('A', bodyRoom) }),
  'a long network': withdrawal({ crypto_network: fill('A', bodyRoom) }),
  ...Object.fromEntries(
    ['ETHEREUM', 'BITCOIN', 'SOLANA', 'STELLAR', 'XRPL'].map((network) => [
      `a long address on ${network}`,
      withdrawal({ crypto_network: network, destination_address: fill('z', bodyRoom) }),
    ]),
  ),
}

function withdrawal(given: Readonly<Record<string, string>>): string {
  return JSON.stringify({
    asset: 'USDC',
    crypto_network: 'ETHEREUM',
    destination_address: '0x',
    amount: '1',
    ...given,
  })
}
