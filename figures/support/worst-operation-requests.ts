import '@bursar/server'
import { gzipSync } from 'node:zlib'
import { limitNamed } from '@bursar/base'
import type { ArrayField, Field, Operation } from '@bursar/contract'
import { aFiatAccount, aStatement } from '../../test/support/records.ts'
import { fill, fillWith, type WorstRequest } from './worst-requests.ts'

/** The worst requests of one operation, from its declaration: path, query and body. */
export type OperationsRequests = {
  readonly id: string
  readonly requests: readonly WorstRequest[]
}

type Known = {
  /** A token with every scope that the operation may need. */
  readonly token: string | undefined
  /** A path parameter that finds something, by its name and the operation's id. */
  readonly findable: (parameter: string, operation: Operation) => string
}

export function worstOf(operation: Operation, known: Known): OperationsRequests {
  const paths = {
    'what it finds': pathOf(operation, (name) => known.findable(name, operation)),
    ...(operation.path.includes(':') && {
      'an escaped path': pathOf(operation, () => fill('%41', limitNamed('pathLengthMax') - 120)),
    }),
  }
  const headers = known.token === undefined ? [] : [`authorization: Bearer ${known.token}`]
  const room = limitNamed('headerBytesMax') - 2500 - (known.token?.length ?? 0)
  const queries = Object.entries(queriesOf(operation.query, room))
  const bodies = Object.entries(bodiesOf(operation))
  const [[, found] = ['', '']] = Object.entries(paths)
  const requests = [
    ...Object.entries(paths).map(([name, path]) => ({ name, path, query: '', body: undefined })),
    ...queries.map(([name, query]) => ({ name, path: found, query, body: undefined })),
    ...bodies.map(([name, body]) => ({ name, path: found, query: '', body })),
  ]
  return {
    id: operation.id,
    requests: requests.map(({ name, path, query, body }) => ({
      name,
      bytes: requestBytes(operation.method, query === '' ? path : `${path}?${query}`, {
        headers,
        body,
      }),
    })),
  }
}

type Sent = { readonly body: Uint8Array; readonly isGzip?: boolean }

function requestBytes(
  method: string,
  target: string,
  {
    headers = [],
    body,
  }: { readonly headers?: readonly string[]; readonly body?: Sent | undefined },
): Uint8Array {
  const ofBody = body === undefined ? [] : [`content-length: ${body.body.length}`]
  const coding = body?.isGzip === true ? ['content-encoding: gzip'] : []
  const head = [`${method} ${target} HTTP/1.1`, 'host: 127.0.0.1', ...headers, ...coding, ...ofBody]
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'),
    body?.body ?? Buffer.alloc(0),
  ])
}

const pathOf = ({ path }: Operation, printed: (name: string) => string): string =>
  path.replaceAll(/:(\w+)/g, (_match, name: string) => printed(name))

type Parameters = Readonly<Record<string, Field<unknown> | ArrayField<string>>>

/** Every parameter with a value that it accepts, and with the longest one that is refused. */
function queriesOf(parameters: Parameters, room: number): Readonly<Record<string, string>> {
  const all = Object.entries(parameters)
  if (all.length === 0) return {}
  const share = Math.floor(room / all.length)
  const accepted = all
    // A cursor is bound to its query, so a guessed one ends the request.
    .filter(([name]) => name !== 'page_cursor')
    .map(([name, field]) => {
      const value = (at: number) => (name === 'customer_id' ? 'acme' : acceptedBy(field, at))
      const unit = (at: number) => `${name}=${encodeURIComponent(value(at))}&`
      const entriesMax = 'each' in field ? field.entriesMax : 1
      const fits = Math.max(1, Math.min(entriesMax, Math.floor(share / unit(0).length)))
      return Array.from({ length: fits }, (_, at) => unit(at)).join('')
    })
  return {
    'every parameter': accepted.join('').slice(0, -1),
    'every parameter wrong': all
      .map(([name]) => `${name}=${fill('%F0%9F%99%82', share - name.length - 2)}`)
      .join('&'),
  }
}

/** A value that a field accepts, or the longest text. */
function acceptedBy(field: Field<unknown> | ArrayField<string>, at: number): string {
  const own: Field<unknown> = 'each' in field ? field.each : field
  const { schema } = own
  const named = 'enum' in schema && Array.isArray(schema.enum) ? schema.enum.map(String) : []
  const candidates = [
    ...named.toReversed(),
    `aaaaaaaa-aaaa-4aaa-8aaa-${String(at).padStart(12, '0')}`,
    new Date().toISOString(),
    String(limitNamed('pageSizeMax')),
    'true',
  ]
  return candidates.find((value) => 'value' in own.read(value)) ?? 'x'.repeat(200)
}

/** The shapes of a body, by what the operation declares. */
function bodiesOf({ body }: Operation): Readonly<Record<string, Sent>> {
  if (body === undefined) return {}
  if ('isStream' in body) return { ...plainStreams, ...plainRecords, ...compressedStreams }
  if ('bytesMax' in body) {
    return body.view === undefined ? { ...plainStreams, ...plainRecords } : plainRecords
  }
  const fields = Object.entries<Field<unknown>>(body.members)
  const accepted = fields
    // The second customer of a seed would be refused.
    .filter(([name]) => name !== 'seed')
    .map(([name, field]) => [name, name === 'customer_id' ? 'acme' : acceptedBy(field, 0)])
  const every = sentAs(JSON.stringify(Object.fromEntries(accepted)))
  return { 'every member': every, ...membersBodies }
}

const sentAs = (text: string): Sent => ({ body: Buffer.from(text) })
const zipped = (text: string): Sent => ({ body: gzipSync(text, { level: 9 }), isGzip: true })

const size = limitNamed('bodyBytesMax')
const membersBodies = {
  'a nested body': sentAs(`{"a":${'['.repeat(size / 2 - 10)}${']'.repeat(size / 2 - 10)}}`),
  'a body of many members': sentAs(
    `{${fillWith((at) => `"${at.toString(36)}":0,`, size - 10)}"z":0}`,
  ),
  'a body of one long text': sentAs(`{"customer_id":"${fill('\\u0041', size - 30)}"}`),
}

const recordSize = limitNamed('recordBytesMax') - 100
const many = (unit: string, bytes = recordSize): string => fill(unit, bytes)
const unknownMembers = `{${Array.from({ length: 100 }, (_, at) => `"m${at}":1`).join(',')}}`
const balances = Array.from({ length: 1000 }, () => '{}').join(',')

/** One record, or a stream of one line. */
const plainRecords = {
  'a record of nested arrays': sentAs(`${many('[', recordSize / 2)}${many(']', recordSize / 2)}`),
  'a record of nested objects': sentAs(`${many('{"a":', recordSize - 10)}1`),
  'a record of empty arrays': sentAs(`[${many('[],')}1]`),
  'a record of numbers': sentAs(`{"a":[${many('1e9,', recordSize - 20)}1]}`),
  'a record of one text': sentAs(`{"a":"${many('\\u0041', recordSize - 20)}"}`),
  'a record of quotes': sentAs(`{"a":"${many('\\"', recordSize - 20)}`),
  'a record with one member many times': sentAs(`{${many('"a":1,', 29_000)}"a":1}`),
  'a record with 100 unknown members': sentAs(unknownMembers),
  'a record with 1,000 empty balances': sentAs(`{"statement_balances":[${balances}]}`),
  'a record with 1,000 unknown balances': sentAs(
    `{"statement_balances":[${balances.replaceAll('{}', '{"a":1,"b":[]}')}]}`,
  ),
  'a record of 5,000 faults in texts': sentAs(
    `{"metadata":{${fillWith((at) => `"k${at}":"\\u0000",`, 3000)}"z":1}}`,
  ),
  'a record of blanks': sentAs(many(' ')),
}

const streamBytes = 2 * 1024 * 1024
const streams = {
  'lines {}': '{}\n',
  'lines 1': '1\n',
  'lines []': '[]\n',
  'lines of 100 unknown members': `${unknownMembers}\n`,
  'blank lines': '\n',
  'lines that are not JSON': '{"a":\n',
}
const shapesOf = (send: (text: string) => Sent, bytes: number) =>
  Object.fromEntries(Object.entries(streams).map(([name, unit]) => [name, send(fill(unit, bytes))]))

const plainStreams = shapesOf(sentAs, streamBytes / 2)
const account = `${JSON.stringify(aFiatAccount())}\n`
const statement = `${JSON.stringify(aStatement({ statement_balances: 1 }))}\n`
const compressedStreams = {
  ...Object.fromEntries(
    Object.entries(shapesOf(zipped, streamBytes)).map(([name, sent]) => [`gzip of ${name}`, sent]),
  ),
  'gzip of one faulty record again and again': zipped(fill(statement, streamBytes)),
  'gzip of one record again and again': zipped(fill(account, 1_000_000)),
  'gzip of records and blank lines': zipped(fill(`${account}${'\n'.repeat(200)}`, streamBytes)),
  'gzip of one long line': zipped('x'.repeat(streamBytes)),
}
