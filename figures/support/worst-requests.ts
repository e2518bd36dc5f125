import '@bursar/server'
import { limitNamed } from '@bursar/base'

/** A request of the largest accepted size, in a shape that costs much to read. */
export type WorstRequest = { readonly name: string; readonly bytes: Uint8Array }

type Parts = {
  readonly method?: string
  readonly target?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

/** Writes a request. Each character is a byte, since a header may have any. */
export function bytesOf({ method = 'GET', target = '/healthz', headers = [], body }: Parts) {
  const length = body === undefined ? [] : [`content-length: ${body.length}`]
  const head = [`${method} ${target} HTTP/1.1`, 'host: x', ...headers, ...length, '', '']
  return Buffer.from(`${head.join('\r\n')}${body ?? ''}`, 'latin1')
}

export const fill = (unit: string, length: number): string =>
  unit.repeat(Math.floor(length / unit.length))

/** As many different units as fit. */
export function fillWith(unitOf: (at: number) => string, length: number): string {
  const units: string[] = []
  for (let at = 0, used = 0; ; at += 1) {
    const unit = unitOf(at)
    used += unit.length
    if (used > length) return units.join('')
    units.push(unit)
  }
}

/** What is left of the headers for the part under test. */
const room = limitNamed('headerBytesMax') - 500
const bodyRoom = limitNamed('bodyBytesMax')
const long = (unit: string): string => fill(unit, room)
const base64url = (text: string): string => Buffer.from(text).toString('base64url')
const members = (length: number): string =>
  `{${fillWith((at) => `"${at.toString(36)}":0,`, length)}"z":0}`

const list = '/v2/statements'
const get = '/v2/transfer/fiat-accounts/'

const targets: Readonly<Record<string, string>> = {
  'a query of pairs and an escape': `${list}?%41&${long('a&')}`,
  'a query of ampersands': `${list}?%41${long('&')}`,
  'a query of escapes': `${list}?${long('%41')}`,
  'a query of bad escapes': `${list}?${long('%zz')}`,
  'a query of escaped pairs': `${list}?${long('%41=%41&')}`,
  'a query of different names': `${list}?%41&${fillWith((at) => `${at.toString(36)}&`, room)}`,
  'a query of one name': `${list}?access_token_${long('a')}`,
  'a query of names like access_token': `${list}?%41&${long('access_tokeN&')}`,
  'a query of blanks': `${list}?%41&${long('+')}`,
  'a long unknown path': `/${long('a')}`,
  'the longest unknown path': `/${fill('a', limitNamed('pathLengthMax') - 1)}`,
  'the longest path of escapes': `/${fill('%41', limitNamed('pathLengthMax') - 1)}`,
  'the longest path of slashes': fill('/', limitNamed('pathLengthMax')),
  'the longest path of emoji': `/${fill('%F0%9F%99%82', limitNamed('pathLengthMax') - 1)}`,
  'a path of escapes': `/${long('%41')}`,
  'a path of bad escapes': `/${long('%zz')}`,
  'a path of control characters': `/${long('%01')}`,
  'a path of possible secrets': `/${long(`${'a'.repeat(39)}-`)}`,
  'a long id': `${get}${long('a')}`,
  'an id of escapes': `${get}${long('%41')}`,
  'a fragment': `/healthz#${long('a')}`,
  'an absolute target': `http://${long('a')}/healthz`,
  'a path that is not known': '/nowhere',
  'the health check': '/healthz',
  'the readiness check': '/readyz',
  'the key set': '/.well-known/jwks.json',
}

const claimed = base64url('{"alg":"ES256","kid":"a"}')
const headers: Readonly<Record<string, string>> = {
  'a long bearer token': `authorization: Bearer ${long('a')}`,
  'a bearer token of the largest size': `authorization: Bearer ${claimed}.${fill('a', 8000)}.a`,
  'a bearer token of nested JSON': `authorization: Bearer ${claimed}.${base64url(fill('[', 5900))}.a`,
  'a bearer token of many members': `authorization: Bearer ${claimed}.${base64url(members(5900))}.a`,
  'blanks before a bearer token': `authorization: Bearer ${long(' ')}!`,
  'blanks after a bearer token': `authorization: Bearer a${long(' ')}!`,
  'a long request id': `x-request-id: ${long('a')}`,
  'a long Content-Type': `content-type: a/${long('a')}`,
  'a Content-Type of blanks': `content-type: a/a${long(' ')}a`,
  'a Content-Type of parameters': `content-type: a/a${long(';a=b')}`,
  'a long If-None-Match': `if-none-match: ${long('"a",')}`,
  'a long X-Forwarded-For': `x-forwarded-for: ${long('127.0.0.1,')}`,
  'an X-Forwarded-For of commas': `x-forwarded-for: ${long(',')}`,
  'a long X-Forwarded-Host': `x-forwarded-host: ${long('a,')}`,
  'a long Forwarded': `forwarded: ${long('for=1.1.1.1,')}`,
  'a long Accept': `accept: ${long('a/a,')}`,
  'a long Accept-Encoding': `accept-encoding: ${long('a;q=0.1,')}`,
  'a long Cookie': `cookie: ${long('a=b;')}`,
  'a long Origin': `origin: http://${long('a')}`,
  'a long Range': `range: bytes=${long('0-1,')}`,
  'a long Connection': `connection: ${long('a,')}`,
  'a long Expect': `expect: ${long('a,')}`,
  'a long Upgrade': `connection: upgrade\r\nupgrade: ${long('a,')}`,
  'a long Host': `host: ${long('a')}`,
  'a long Content-Encoding': `content-encoding: ${long('gzip,')}`,
  'a header with a long name': `${long('a')}: a`,
  'many short headers': fill('a:\r\n', 3 * room).trimEnd(),
  'the most headers': fill('authorization: a\r\n', 18 * (limitNamed('headersMax') - 1)).trimEnd(),
}

const formType = 'content-type: application/x-www-form-urlencoded'
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const asserted = (assertion: string): string =>
  `client_assertion_type=${encodeURIComponent(assertionType)}&client_assertion=${assertion}`

const forms: Readonly<Record<string, string>> = {
  'a form of pairs': fill('a&', bodyRoom),
  'a form of ampersands': fill('&', bodyRoom),
  'a form of escapes': fill('%41', bodyRoom),
  'a form of escaped pairs': fill('%41=%41&', bodyRoom),
  'a form of different names': fillWith((at) => `${at.toString(36)}&`, bodyRoom),
  'a form of one long value': `client_id=${fill('a', bodyRoom - 10)}`,
  'a form with a long secret': `client_id=a&client_secret=${fill('a', limitNamed('formFieldLengthMax'))}`,
  'an assertion of the largest size': asserted(
    `a.${fill('a', limitNamed('formFieldLengthMax') - 4)}.a`,
  ),
  'an assertion of nested JSON': asserted(`a.${base64url(fill('[', 6000))}.a`),
  'an assertion of many members': asserted(`a.${base64url(members(6000))}.a`),
  'an assertion of dots': asserted(fill('.', limitNamed('formFieldLengthMax'))),
}

const multipart = (part: string, boundary = 'a') => ({
  headers: [`content-type: multipart/form-data; boundary=${boundary}`],
  body: `${fill(part, bodyRoom - 200)}--${boundary}--`,
})
const disposition = '--a\r\ncontent-disposition: form-data; '

const tokenRequests: Readonly<Record<string, Parts>> = {
  'multipart with many parts': multipart(`${disposition}name="a"\r\n\r\n\r\n`),
  'multipart with many empty parts': multipart('--a\r\na:b\r\n\r\n'),
  'multipart of delimiters that differ at the end': multipart(
    `\r\n--${'a'.repeat(24)}`,
    `${'a'.repeat(24)}b`,
  ),
  'multipart of line breaks': multipart('\r\n'),
  'multipart of one part': {
    ...multipart('-'),
    body: `${disposition}name="scope"\r\n\r\n${fill('a', bodyRoom - 200)}\r\n--a--`,
  },
  'multipart of one header': {
    ...multipart('-'),
    body: `${disposition}${fill('name="a"; ', bodyRoom - 200)}\r\n\r\n\r\n--a--`,
  },
  'multipart of an escaped name': {
    ...multipart('-'),
    body: `${disposition}name*=utf-8''${fill('%41', bodyRoom - 200)}\r\n\r\n\r\n--a--`,
  },
  'a long multipart boundary': multipart('a', long('a')),
  'a form type of parameters': { headers: [`${formType}${long(';a="b"')}`], body: 'a' },
  'a query of escapes and a form': {
    target: `/oauth2/token?%41&${long('client_i&')}`,
    headers: [formType],
    body: 'a=b',
  },
  'Basic credentials of escapes': {
    headers: [formType, `authorization: Basic ${btoa(fill('%41', 6000))}`],
    body: 'grant_type=client_credentials',
  },
  'Basic credentials with a long secret': {
    headers: [formType, `authorization: Basic ${btoa(`a:${fill('a', 6000)}`)}`],
    body: 'grant_type=client_credentials',
  },
  'a long Basic header': {
    headers: [formType, `authorization: Basic ${long('a')}`],
    body: 'grant_type=client_credentials',
  },
  'a body that is too large': { headers: [formType], body: fill('a', bodyRoom + 1) },
  ...Object.fromEntries(
    Object.entries(forms).map(([name, body]) => [name, { headers: [formType], body }]),
  ),
}

/** Those that a stranger can send without credentials, and that reach no store. */
export const strangersRequests: readonly WorstRequest[] = [
  ...Object.entries(targets).map(([name, target]) => ({ name, bytes: bytesOf({ target }) })),
  ...Object.entries(headers).map(([name, header]) => ({
    name,
    bytes: bytesOf({ target: list, headers: [header] }),
  })),
  {
    name: 'a path that cannot be decoded and a long X-Forwarded-For',
    bytes: bytesOf({ target: '/%zz', headers: [`x-forwarded-for: ${long('127.0.0.1,')}`] }),
  },
  {
    name: 'a wrong method on a long path',
    bytes: bytesOf({ method: 'POST', target: `${get}${long('a')}` }),
  },
  {
    name: 'a cross-origin preflight',
    bytes: bytesOf({
      method: 'OPTIONS',
      target: list,
      headers: [
        'origin: http://a',
        'access-control-request-method: GET',
        `access-control-request-headers: ${long('a,')}`,
      ],
    }),
  },
]

/** The same for the token endpoint. Each has its own address, where guesses are counted. */
export const strangersTokenRequests = (network: number): readonly WorstRequest[] =>
  Object.entries(tokenRequests).map(
    ([name, { target = '/oauth2/token', headers: own = [], body = '' }], at) => ({
      name,
      bytes: bytesOf({
        method: 'POST',
        target,
        headers: [...own, `x-forwarded-for: 10.0.${network}.${at}`],
        body,
      }),
    }),
  )
