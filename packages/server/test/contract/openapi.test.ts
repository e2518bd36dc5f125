import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import {
  contractAdditions,
  contractFee,
  contractObjects,
  contractReads,
  type Fields,
} from '../../../../test/support/contract.ts'
import { type Document, resolveSchema, type Schema } from '../../../../test/support/documented.ts'
import { startTestService } from '../../../../test/support/harness.ts'
import { asOpenApi30 } from '../../src/documents/openapi-3.0.ts'

/**
 * Compares the document with the contract, which packages/verify/src/contract.json states by hand.
 */

const service = await startTestService()
const served = await service.call('/openapi.json', { as: null })
const document: Document = served.body
after(() => service.stop())

/** The shape of a problem, which contract.json leaves to decisions, section 6. */
const problem: Fields = {
  'type!': 'string',
  'title!': 'string',
  'status!': 'integer',
  'detail!': 'string',
  'instance!': 'string',
  'request_id!': 'string',
  meta: {
    errors: { '[]': 'array', 'parameter!': 'string', 'code!': 'string', 'reason!': 'string' },
  },
}
/** An event, which the contract does not have. */
const event: Fields = {
  'id!': 'string uuid',
  'type!': [
    'fiat_account',
    'fiat_deposit_instructions',
    'deposit_address',
    'statement',
    'issuer_quote_execution',
  ]
    .flatMap((type) => [`${type}.created`, `${type}.updated`, `${type}.deleted`])
    .concat('crypto_withdrawal_fee.consumed')
    .join('|'),
  'object_type!':
    'fiat_account|fiat_deposit_instructions|deposit_address|statement|issuer_quote_execution|crypto_withdrawal_fee',
  'object!': {
    'id!': 'string uuid',
    'kind!':
      'fiat-accounts|fiat-deposit-instructions|deposit-addresses|statements|issuer-quote-executions|fees',
  },
  'created_at!': 'string date-time',
  'as_of!': 'string date-time',
}
const shapes: Fields = { ...contractObjects, Problem: problem, Event: event }

const resolved = (schema: Schema): Schema => resolveSchema(document, schema)

function scalarOf(schema: Schema): string {
  const { type, format, pattern, enum: members } = resolved(schema)
  return [members?.join('|') ?? type, format, pattern]
    .filter((part) => part !== undefined)
    .join(' ')
}

function parameterType(schema: Schema): string {
  const { items, maxItems, minimum, maximum, default: fallback } = schema
  if (items !== undefined) return `array<=${maxItems} of ${scalarOf(items)}`
  const range = minimum === undefined ? '' : ` ${minimum}..${maximum}`
  return `${scalarOf(schema)}${range}${fallback === undefined ? '' : ` = ${fallback}`}`
}

/** A schema in the notation of the contract. */
function fieldsOf(given: Schema): string | Fields {
  const schema = resolved(given)
  const { items, properties, required = [], type, additionalProperties: values } = schema
  if (items !== undefined) {
    const each = fieldsOf(items)
    return typeof each === 'string' ? `array of ${each}` : { '[]': 'array', ...each }
  }
  if (properties !== undefined) {
    return {
      ...(Array.isArray(type) && { '': type.join('|') }),
      ...Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [
          required.includes(name) ? `${name}!` : name,
          fieldsOf(inner),
        ]),
      ),
    }
  }
  // Client generators read a map's values from additionalProperties and ignore patternProperties.
  return values === undefined
    ? scalarOf(schema)
    : `map<=${schema.maxProperties} of ${values.type}<=${values.maxLength}`
}

/** The components besides those in `shapes` and the pages. */
const shared = [
  'RoutingNumberType',
  'CbitInstructions',
  'DbsActInstructions',
  'CubixInstructions',
  'ScbInstructions',
  'RtpInstructions',
  'InstitutionDetails',
  'CryptoNetwork',
  'ConversionTargetAsset',
  'FiatAccountStatus',
  'StatementStatus',
  'FiatDepositInstructionsStatus',
  'IssuerQuoteStatus',
  'ProblemMeta',
  'ParameterFault',
  'CreateCryptoWithdrawalFeeRequest',
  'CreateCryptoWithdrawalFeeRequestByAmount',
  'CreateCryptoWithdrawalFeeRequestByTotal',
  'EventType',
  'EventObjectType',
  'EventObject',
  'EventKind',
  'EventsPage',
]

/** The component of a page is named after its operation, `listStatements`. */
const pageOf = (path: string): string =>
  `${document.paths[path]?.get?.operationId.replace('list', '')}Page`

const isSentence = (text: string | undefined): boolean => /^[A-Z`].*\.$/.test(text ?? '')

/** The schemas of members, items and bodies that stand where they are used, by their place. */
const inlineSchemas = Object.fromEntries([
  ...Object.entries(document.components.schemas).flatMap(([name, { properties }]) =>
    Object.entries(properties ?? {}).flatMap(([member, schema]) => [
      [`${name}.${member}`, schema] as const,
      [`${name}.${member}[]`, schema.items ?? {}] as const,
    ]),
  ),
  ...Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((part) =>
        Object.values(part?.content ?? {}).map(({ schema }) => [operationId, schema] as const),
      ),
    ),
  ),
])

function everySchema(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(everySchema)
  return 'enum' in value || 'type' in value || 'properties' in value
    ? [value as Schema, ...inner]
    : inner
}

describe('/openapi-3.0.json', () => {
  test('is the document as valid OpenAPI 3.0', async () => {
    const older = await service.call('/openapi-3.0.json', { as: null })
    assert.equal(older.status, 200)
    const validator = new Validator()
    assert.deepEqual(await validator.validate(structuredClone(older.body)), { valid: true })
    assert.equal(validator.version, '3.0')
    assert.deepEqual(withoutReferenceForms(older.body.paths), withoutReferenceForms(document.paths))
    const [schemas, expected] = [older.body, document].map(({ components }) =>
      withoutReferenceForms(components.schemas),
    )
    assert.deepEqual(schemas, expected)
  })

  test('translates the spellings of 3.1 and leaves values alone', () => {
    const schema = {
      type: ['object', 'null'],
      properties: {
        const: { const: 'A', examples: ['A'] },
        examples: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9 },
        other: { $ref: '#/components/schemas/Other', description: 'Another.' },
        list: { type: 'array', items: { oneOf: [{ type: ['string', 'null'] }] } },
        map: { type: 'object', additionalProperties: { const: 1 }, default: { const: 2 } },
        open: { type: 'object', additionalProperties: true },
      },
    }
    const given = {
      info: { license: { name: 'MIT', identifier: 'MIT' } },
      components: { schemas: { schema } },
    }
    assert.deepEqual(asOpenApi30(given), {
      openapi: '3.0.3',
      info: { license: { name: 'MIT' } },
      components: {
        schemas: {
          schema: {
            type: 'object',
            nullable: true,
            properties: {
              const: { enum: ['A'], example: 'A' },
              examples: {
                type: 'integer',
                minimum: 0,
                exclusiveMinimum: true,
                maximum: 9,
                exclusiveMaximum: true,
              },
              other: { allOf: [{ $ref: '#/components/schemas/Other' }], description: 'Another.' },
              list: { type: 'array', items: { oneOf: [{ type: 'string', nullable: true }] } },
              map: { type: 'object', additionalProperties: { enum: [1] }, default: { const: 2 } },
              open: { type: 'object', additionalProperties: true },
            },
          },
        },
      },
    })
  })
})

/** The text of a document in which a described reference has one form in every version. */
const withoutReferenceForms = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, inner) => {
    const [reference] = inner?.allOf ?? []
    if (reference === undefined) return inner
    const { allOf: __, ...rest } = inner
    return { ...reference, ...rest }
  })

describe('/openapi.json', () => {
  test('is served without a token as valid OpenAPI 3.1', async () => {
    assert.equal(served.status, 200)
    assert.equal(served.headers.get('content-type'), 'application/json')
    const validator = new Validator()
    const result = await validator.validate(structuredClone(served.body))
    assert.deepEqual(result, { valid: true })
    assert.equal(validator.version, '3.1')
    assert.match(document.openapi, /^3\.1\./)
  })

  test('has exactly the paths of the contract and the events, each with its one method', () => {
    assert.deepEqual(
      Object.keys(document.paths).toSorted(),
      [
        ...Object.keys(contractReads),
        contractFee.path,
        ...Object.keys(contractAdditions),
      ].toSorted(),
    )
    for (const [path, methods] of Object.entries(document.paths)) {
      assert.deepEqual(Object.keys(methods), [path === contractFee.path ? 'post' : 'get'])
    }
  })

  test('names each operation and each schema once', () => {
    const named = Object.values(document.paths).map(({ get, post }) => (get ?? post)?.operationId)
    assert.equal(new Set(named).size, named.length)
    const names = Object.keys(document.components.schemas)
    const lists = Object.entries(contractReads).filter(([, { envelope }]) => envelope !== undefined)
    const pages = lists.map(([path]) => pageOf(path))
    assert.deepEqual(names.toSorted(), [...Object.keys(shapes), ...pages, ...shared].toSorted())
  })

  test('leaves no object, envelope or enum of a record without a name', () => {
    for (const [place, schema] of Object.entries(inlineSchemas)) {
      const isMap = schema.type === 'object' && schema.properties === undefined
      assert.ok(schema.type !== 'object' || isMap, `${place} is an object without a name`)
      assert.equal(schema.enum, undefined, `${place} is an enum without a name`)
    }
  })

  test('describes every component, member and parameter', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const isBody = schema.oneOf !== undefined
      assert.ok(isBody || isSentence(schema.description), name)
      for (const [member, inner] of Object.entries(schema.properties ?? {})) {
        assert.ok(isSentence(inner.description), `${name}.${member}`)
      }
    }
    for (const methods of Object.values(document.paths)) {
      for (const { operationId, parameters } of Object.values(methods)) {
        for (const { name, description } of parameters) {
          assert.ok(isSentence(description), `${operationId}: ${name}`)
        }
      }
    }
  })

  test('bounds every array', () => {
    const unbounded = everySchema(document).filter(
      ({ type, maxItems }) => type === 'array' && maxItems === undefined,
    )
    assert.deepEqual(unbounded, [])
  })

  test('names the token URL and the scopes', () => {
    const { oauth2 } = document.components.securitySchemes as Record<
      string,
      { type: string; flows: Record<string, { tokenUrl: string; scopes: Record<string, string> }> }
    >
    const { clientCredentials, ...others } = oauth2?.flows ?? {}
    assert.equal(oauth2?.type, 'oauth2')
    assert.deepEqual(others, {})
    assert.equal(clientCredentials?.tokenUrl, `${service.url}/oauth2/token`)
    const used = Object.values(contractReads).map(({ scope }) => scope)
    for (const scope of used) assert.ok(scope in (clientCredentials?.scopes ?? {}), scope)
  })

  test('gives every schema a type', () => {
    const untyped = everySchema(document.components.schemas).filter(({ type, enum: members }) =>
      members === undefined ? type === undefined : type !== 'string',
    )
    assert.deepEqual(untyped, [])
    for (const { get } of Object.values(document.paths)) {
      for (const { name, schema } of get?.parameters ?? []) {
        assert.notEqual(resolved(schema.items ?? schema).type, undefined, name)
      }
    }
  })
})

for (const [path, { scope, shape, envelope, parameters }] of Object.entries(contractReads)) {
  describe(path, () => {
    const operation = document.paths[path]?.get

    test('requires the scope of the contract', () => {
      assert.deepEqual(operation?.security, [{ oauth2: [scope] }])
    })

    test('has every parameter of the contract with its type', () => {
      const found = (operation?.parameters ?? []).map(({ name, in: place, required, schema }) => {
        assert.equal(place, name === 'id' ? 'path' : 'query', name)
        return [required ? `${name}!` : name, parameterType(schema)]
      })
      assert.deepEqual(Object.fromEntries(found), parameters)
    })

    test('documents the body of the contract and the problems', () => {
      const { 200: good, 304: held, ...refusals } = operation?.responses ?? {}
      const schema = good?.content?.['application/json']?.schema
      if (envelope === undefined) {
        assert.equal(schema?.$ref, `#/components/schemas/${shape}`)
        assert.equal(held, undefined)
      } else {
        assert.equal(schema?.$ref, `#/components/schemas/${pageOf(path)}`)
        const page = resolved(schema ?? {})
        assert.deepEqual(Object.keys(page.properties ?? {}), [envelope, 'next_page_cursor'])
        assert.deepEqual(page.required, [envelope])
        const { items, maxItems } = page.properties?.[envelope] ?? {}
        assert.equal(maxItems, 1000)
        assert.equal(items?.$ref, `#/components/schemas/${shape}`)
        assert.equal(held?.content, undefined)
      }
      const statuses = ['400', '401', '403', '410', '417', '429', '431', '500', '503']
      const expected = envelope === undefined ? [...statuses, '404'].toSorted() : statuses
      assert.deepEqual(Object.keys(refusals), expected)
      for (const refusal of Object.values(refusals)) {
        assert.deepEqual(Object.keys(refusal.content ?? {}), ['application/problem+json'])
        const problem = refusal.content?.['application/problem+json']?.schema
        assert.equal(problem?.$ref, '#/components/schemas/Problem')
      }
    })
  })
}

describe(contractFee.path, () => {
  const operation = document.paths[contractFee.path]?.post

  test('requires the scope of the contract', () => {
    assert.deepEqual(operation?.security, [{ oauth2: [contractFee.scope] }])
  })

  test('takes the body of the contract, with exactly one of amount and total', () => {
    const schema = operation?.requestBody?.content['application/json']?.schema
    const branches = resolved(schema ?? {}).oneOf ?? []
    const figure = { type: 'string', pattern: '^[0-9]*\\.?[0-9]+$', maxLength: 64 }
    const shown = branches.map((branch) => {
      const { required, properties = {} } = resolved(branch)
      const plain = Object.entries(properties).map(([name, { description: _, ...rest }]) => [
        name,
        rest,
      ])
      return { required, properties: Object.fromEntries(plain) }
    })
    const always = {
      asset: { type: 'string', minLength: 1, maxLength: 200 },
      destination_address: { type: 'string', minLength: 1 },
      crypto_network: { $ref: '#/components/schemas/CryptoNetwork' },
    }
    const required = ['asset', 'destination_address', 'crypto_network']
    assert.deepEqual(shown, [
      { required: [...required, 'amount'], properties: { ...always, amount: figure } },
      { required: [...required, 'total'], properties: { ...always, total: figure } },
    ])
  })

  test('documents the body of the contract and the problems', () => {
    const { 200: good, ...refusals } = operation?.responses ?? {}
    assert.equal(
      good?.content?.['application/json']?.schema?.$ref,
      `#/components/schemas/${contractFee.shape}`,
    )
    assert.deepEqual(Object.keys(refusals), [
      '400',
      '401',
      '403',
      '408',
      '413',
      '415',
      '417',
      '429',
      '431',
      '500',
      '501',
      '503',
    ])
  })
})

for (const [name, fields] of Object.entries(shapes)) {
  test(`${name} has the fields and types of the contract, and requires the mandatory ones`, () => {
    assert.deepEqual(fieldsOf(document.components.schemas[name] ?? {}), fields)
  })
}
