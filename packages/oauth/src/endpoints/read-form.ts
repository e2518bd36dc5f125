import { limitsOf } from '@bursar/base'
import { queryNames, type Request } from '@bursar/contract'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { oauthError } from './oauth-error.ts'

const limits = limitsOf({
  /** A query at the token endpoint, which takes no parameter in it. */
  formQueryLengthMax: 2048,
  /** Fields of a form. The longest is a token or an assertion. */
  formFieldsMax: 20,
  formFieldLengthMax: 8192,
  /** Lines of a multipart form: delimiter, up to six headers, a blank line and a value each. */
  formLinesMax: 200,
  formHeaderBytesMax: 1024,
})

/** The parameters of a request. An empty one counts as absent (RFC 6749 section 3.2). */
export type Form = ReadonlyMap<string, string>

/** Reads a urlencoded or multipart body. Proxies would log parameters in the query. */
export async function readForm(request: Request): Promise<Form> {
  const { rawQuery } = request
  if (rawQuery.length > limits.formQueryLengthMax || hasBodyParameter(rawQuery)) {
    throw oauthError('invalid_request', 'parameters belong in the body, not in the query')
  }
  const form = new Map<string, string>()
  const names = new Set<string>()
  for (const [name, value] of await readPairs(request)) {
    if (names.has(name)) throw oauthError('invalid_request', 'a parameter is repeated')
    if (value.length > limits.formFieldLengthMax) {
      const detail = `a parameter must have at most ${limits.formFieldLengthMax} characters`
      throw oauthError('invalid_request', detail)
    }
    names.add(name)
    if (value !== '') form.set(name, value)
  }
  return form
}

const hasBodyParameter = queryNames([
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'grant_type',
  'scope',
  'token',
  'access_token',
])

type Pairs = readonly (readonly [string, string])[]

async function readPairs({ headers, body }: Request): Promise<Pairs> {
  const type = headers['content-type'] ?? ''
  const [mediaType = ''] = type.split(';')
  const name = mediaType.trim().toLowerCase()
  if (name === 'multipart/form-data') {
    return readMultipart({ ...headers, 'content-type': type }, body)
  }
  if (name !== 'application/x-www-form-urlencoded') {
    const detail = 'the body must be application/x-www-form-urlencoded or multipart/form-data'
    throw oauthError('invalid_request', detail)
  }
  const text = body.toString('utf8')
  // Split no further than needed to see that there are too many.
  const most = limits.formFieldsMax
  if (text.split('&', most + 1).length > most) throw tooManyFields()
  return [...new URLSearchParams(text)]
}

const tooManyFields = () => oauthError('invalid_request', 'the body has too many parameters')

function readMultipart(headers: BusboyHeaders, body: Buffer): Promise<Pairs> {
  const { formFieldsMax, formFieldLengthMax, formHeaderBytesMax, formLinesMax } = limits
  // The parser cannot be stopped at a limit; it reads every part to the end.
  if (body.toString('latin1').split('\r\n', formLinesMax + 1).length > formLinesMax) {
    throw tooManyFields()
  }
  return new Promise((resolve, reject) => {
    const pairs: [string, string][] = []
    const detail = 'the multipart body must be complete and contain no files'
    const fail = () => reject(oauthError('invalid_request', detail))
    try {
      const parser = new Busboy({
        headers,
        limits: {
          fields: formFieldsMax,
          fieldSize: formFieldLengthMax,
          headerSize: formHeaderBytesMax,
          files: 0,
        },
      })
      parser.on('field', (name, value, nameWasCut, valueWasCut) => {
        if (nameWasCut || valueWasCut) fail()
        pairs.push([name, value])
      })
      parser.on('fieldsLimit', () => reject(tooManyFields()))
      parser.on('filesLimit', fail)
      parser.on('error', fail)
      parser.on('finish', () => resolve(pairs))
      parser.end(body)
    } catch {
      // The constructor throws if the header names no boundary.
      fail()
    }
  })
}
