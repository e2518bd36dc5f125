import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { RawAnswer } from './raw-request.ts'

/** The parts of an OpenAPI document that tests read. */
export type Document = {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components: {
    readonly examples: Readonly<Record<string, DocumentedExample>>
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes: Readonly<Record<string, unknown>>
  }
}

export type DocumentedOperation = {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly DocumentedParameter[]
  readonly requestBody?: { readonly content: Contents }
  readonly responses: Readonly<Record<string, DocumentedResponse>>
}

type DocumentedResponse = {
  readonly content?: Contents
  readonly headers?: Readonly<Record<string, unknown>>
}

type Contents = Readonly<Record<string, DocumentedContent>>

export type DocumentedContent = {
  readonly schema: Schema
  readonly examples?: Readonly<Record<string, DocumentedExample | { readonly $ref: string }>>
}

export type DocumentedParameter = {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly example?: unknown
  readonly schema: Schema
}

export type Schema = {
  readonly $ref?: string
  readonly description?: string
  readonly oneOf?: readonly Schema[]
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly maxProperties?: number
  readonly additionalProperties?: Schema
}

export type DocumentedExample = { readonly summary: string; readonly value: unknown }

/** The examples of a body by their names, with those that it refers to. */
export const examplesIn = (
  { components }: Document,
  content: DocumentedContent | undefined,
): readonly (readonly [string, DocumentedExample])[] =>
  Object.entries(content?.examples ?? {}).map(([name, example]) => {
    if (!('$ref' in example)) return [name, example]
    const shared = components.examples[example.$ref.replace('#/components/examples/', '')]
    assert.ok(shared !== undefined, example.$ref)
    return [name, shared]
  })

/** The component that a schema refers to, or the schema itself. */
export function resolveSchema(document: Document, schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  if (name === undefined) return schema
  const component = document.components.schemas[name]
  assert.ok(component !== undefined, `the document has no ${name}`)
  return resolveSchema(document, component)
}

/** Checks answers against the document, and refuses members and headers that it does not name. */
export function openDocumentChecker(document: Document) {
  // packages/server/test/contract/openapi.test.ts checks the documents themselves, so no schema is
  // checked here.
  const checks = { meta: false, validateSchema: false }
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, ...checks })
  addFormats.default(ajv)
  ajv.addSchema(closed({ $id: 'document', $defs: document.components.schemas }))
  const validators = new Map<string, ValidateFunction>()
  const validatorOf = (schema: Schema): ValidateFunction => {
    const key = JSON.stringify(schema)
    const known = validators.get(key) ?? ajv.compile(closed(schema))
    validators.set(key, known)
    return known
  }
  return (operation: DocumentedOperation, path: string, answer: CheckedAnswer): void => {
    const { status, headers, text } = answer
    const response = operation.responses[status]
    assert.ok(
      response !== undefined,
      `${operation.operationId} does not document ${status}: ${text}`,
    )
    assertHeaders(`${operation.operationId} ${status}`, headers, response)
    if (response.content === undefined || text === '') {
      assert.equal(text, '')
      return
    }
    const type = String(headers['content-type'])
    const schema = response.content[type]?.schema
    assert.ok(schema !== undefined, `${operation.operationId} ${status} documents no ${type}`)
    const body: unknown = JSON.parse(text)
    const validate = validatorOf(schema)
    assert.ok(
      validate(body),
      `${operation.operationId}: ${JSON.stringify(validate.errors, null, 1)}\n${text}`,
    )
    if (status >= 400) assertProblemShape(body as Readonly<Record<string, unknown>>, path, answer)
  }
}

export type CheckedAnswer = Pick<RawAnswer, 'status' | 'headers' | 'text'>

/** Headers of HTTP, of CORS and of every answer, which no response names. */
const plainHeaders =
  /^(date|connection|keep-alive|content-(type|length|encoding)|transfer-encoding|vary|cache-control|x-content-type-options|access-control-.*)$/

function assertHeaders(
  name: string,
  headers: CheckedAnswer['headers'],
  { headers: documented = {} }: DocumentedResponse,
): void {
  assert.match(String(headers['x-request-id']), /^\S+$/)
  const known = Object.keys(documented).map((header) => header.toLowerCase())
  const others = Object.keys(headers).filter((header) => !plainHeaders.test(header))
  assert.deepEqual(
    others.filter((header) => !known.includes(header)),
    [],
    `${name} documents no such header`,
  )
}

function assertProblemShape(
  body: Readonly<Record<string, unknown>>,
  path: string,
  { status, headers }: CheckedAnswer,
): void {
  const { type, detail, meta, instance, ...rest } = body
  assert.deepEqual(rest, {
    title: STATUS_CODES[status],
    status,
    request_id: headers['x-request-id'],
  })
  assert.match(String(type), /^(about:blank|\/problems\/[a-z-]+)$/)
  assert.match(String(detail), /^[^\p{Cc}]+$/u)
  assert.ok(path.startsWith(String(instance)) || /withheld|%/.test(String(instance)), path)
  const { errors = [] } = (meta ?? {}) as { readonly errors?: readonly Fault[] }
  for (const { parameter, member, line, code, reason } of errors) {
    const isOfRecord = member !== undefined && parameter === undefined
    assert.ok(isOfRecord || (parameter !== undefined && line === undefined), JSON.stringify(meta))
    for (const text of [parameter ?? member, code, reason]) {
      assert.ok(typeof text === 'string' && text !== '')
    }
  }
}

type Fault = Readonly<Record<'parameter' | 'member' | 'line' | 'code' | 'reason', unknown>>

/** Forbids unnamed members in a schema and rewrites its references to `document#`. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    if (typeof value !== 'object' || value === null) return value
    if (typeof value.$ref === 'string') {
      return { $ref: value.$ref.replace('#/components/schemas/', 'document#/$defs/') }
    }
    const isShape = 'properties' in value && typeof value.properties === 'object'
    return isShape && !('additionalProperties' in value) && !('$id' in value)
      ? { ...value, additionalProperties: false }
      : value
  })
}
