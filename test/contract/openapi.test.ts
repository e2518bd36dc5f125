import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { asOpenApi30 } from '../../src/http/documents/openapi-3.0.ts'
import { type Document, resolveSchema, type Schema } from '../support/documented.ts'
import { startTestService } from '../support/harness.ts'

/**
 * Compares the document with the contract. Every path, parameter and field below was copied by hand
 * from the contract and the decisions, not from the source.
 */

const service = await startTestService()
const served = await service.call('/openapi.json', { as: null })
const document: Document = served.body
after(() => service.stop())

type Parameter = readonly [type: string, required?: 'required']

const list: Readonly<Record<string, Parameter>> = {
  limit: ['integer int32 1..1000 = 100'],
  order: ['DESC|ASC = DESC'],
  page_cursor: ['string'],
}
const byCreation: Readonly<Record<string, Parameter>> = {
  order_by: ['CREATED_AT = CREATED_AT'],
  'created_at.lt': ['string date-time'],
  'created_at.lte': ['string date-time'],
  'created_at.eq': ['string date-time'],
  'created_at.gte': ['string date-time'],
  'created_at.gt': ['string date-time'],
}
const cryptoNetwork =
  'BITCOIN|ETHEREUM|BITCOIN_CASH|LITECOIN|SOLANA|POLYGON_POS|BASE|ARBITRUM_ONE|STELLAR|INK|XLAYER'
const statementStatus =
  'STATEMENT_STATUS_UNSPECIFIED|STATEMENT_STATUS_INITIATED|STATEMENT_STATUS_GENERATED|STATEMENT_STATUS_PAID'
const ids: Parameter = ['array<=100 of string uuid']
const texts: Parameter = ['array<=100 of string']
/** The contract limits only the filters of accounts and addresses. */
const manyIds: Parameter = ['array<=1000 of string uuid']
const manyTexts: Parameter = ['array<=1000 of string']
const id: Parameter = ['string uuid', 'required']

type Described = {
  readonly scope: string
  readonly body: string
  readonly parameters: Readonly<Record<string, Parameter>>
}

const contract: Readonly<Record<string, Described>> = {
  '/v2/transfer/fiat-accounts/{id}': {
    scope: 'transfer:read_fiat_account',
    body: 'FiatAccount',
    parameters: { id, include_deleted: ['boolean'] },
  },
  '/v2/transfer/fiat-accounts': {
    scope: 'transfer:read_fiat_account',
    body: 'items: FiatAccountListItem',
    parameters: { ids, ref_ids: texts, ...byCreation, ...list, include_deleted: ['boolean'] },
  },
  '/v2/statements': {
    scope: 'statements:read_statement',
    body: 'statements: Statement',
    parameters: {
      customer_id: ['string', 'required'],
      ref_ids: manyTexts,
      statement_ids: manyIds,
      statuses: [`array<=1000 of ${statementStatus}`],
      ...list,
    },
  },
  '/v2/transfer/fiat-deposit-instructions/{id}': {
    scope: 'transfer:read_fiat_deposit_instructions',
    body: 'FiatDepositInstructions',
    parameters: { id },
  },
  '/v2/transfer/fiat-deposit-instructions': {
    scope: 'transfer:read_fiat_deposit_instructions',
    body: 'items: FiatDepositInstructions',
    parameters: {
      ids,
      ref_ids: texts,
      memo_ids: texts,
      profile_ids: texts,
      identity_ids: texts,
      account_ids: texts,
      ...byCreation,
      ...list,
    },
  },
  '/v2/transfer/deposit-addresses': {
    scope: 'transfer:read_deposit_address',
    body: 'items: DepositAddress',
    parameters: {
      profile_ids: texts,
      identity_ids: texts,
      ids,
      ref_ids: texts,
      account_ids: texts,
      networks: [`array<=100 of ${cryptoNetwork}`],
      addresses: texts,
      ...byCreation,
      ...list,
    },
  },
  '/v2/issuer-quotes': {
    scope: 'exchange:read_issuer_quote_execution',
    body: 'issuer_quote_executions: IssuerQuoteExecution',
    parameters: {
      profile_id: ['string'],
      status: ['array<=1000 of PENDING|COMPLETE|FAILED'],
      'created_range.begin': ['string date-time'],
      'created_range.end': ['string date-time'],
      ids: manyIds,
      ref_ids: manyTexts,
      ...list,
    },
  },
}

const feePath = '/v2/transfer/fees/crypto-withdrawal'

/** The type of a field; `!` marks a required one. Nested objects are in braces. */
type Fields = { readonly [field: string]: string | Fields }

const address: Fields = {
  'country!': 'string',
  address1: 'string',
  address2: 'string',
  city: 'string',
  province: 'string',
  zip_code: 'string',
}
const routing: Fields = {
  'routing_number_type!': 'ABA|SWIFT',
  'routing_number!': 'string',
  'bank_name!': 'string',
  'bank_address!': address,
}
const wire: Fields = {
  'account_number!': 'string',
  'fiat_account_owner_address!': address,
  'routing_details!': routing,
  intermediary_routing_details: routing,
}
const networks: Fields = {
  wire,
  cbit: { 'wallet_address!': 'string' },
  dbs_act: { 'account_number!': 'string' },
  cubix: { 'account_id!': 'string' },
  scb: { 'account_number!': 'string' },
  rtp: {
    'account_number!': 'string',
    'routing_details!': {
      routing_number_type: 'ABA|SWIFT',
      'routing_number!': 'string',
      bank_name: 'string',
      bank_address: address,
    },
    fiat_account_owner_address: address,
  },
}
const owner: Fields = {
  person_details: { 'first_name!': 'string', 'last_name!': 'string' },
  institution_details: { 'name!': 'string' },
}
const fiatAccountStatus = 'PENDING|APPROVED|REJECTED'
const fiatAccount: Fields = {
  'id!': 'string uuid',
  'fiat_network_instructions!': networks,
  'status!': fiatAccountStatus,
  'created_at!': 'string date-time',
  ref_id: 'string',
  identity_id: 'string',
  account_id: 'string',
  fiat_account_owner: owner,
  metadata: 'map of string',
  updated_at: 'string date-time',
}

const shapes: Readonly<Record<string, Fields>> = {
  FiatAccount: fiatAccount,
  FiatAccountListItem: {
    ...fiatAccount,
    'fiat_network_instructions!': {
      ...networks,
      wire: { ...wire, status: fiatAccountStatus, metadata: 'map of string' },
    },
  },
  FiatDepositInstructions: {
    'id!': 'string uuid',
    'profile_id!': 'string',
    'identity_id!': 'string',
    'customer_id!': 'string',
    'status!': 'VALID|DEPRECATED',
    'memo_id!': 'string',
    'fiat_network_instructions!': networks,
    'created_at!': 'string date-time',
    account_id: 'string',
    ref_id: 'string',
    fiat_account_owner: owner,
    metadata: 'map of string',
  },
  DepositAddress: {
    'id!': 'string uuid',
    'profile_id!': 'string',
    'customer_id!': 'string',
    identity_id: 'string',
    account_id: 'string',
    ref_id: 'string',
    'crypto_network!': cryptoNetwork,
    'address!': 'string',
    'conversion_target_asset!': 'NO_CONVERSION|USD',
    'compatible_crypto_networks!': `array of ${cryptoNetwork}`,
    metadata: 'map of string',
    'created_at!': 'string date-time',
  },
  Statement: {
    'id!': 'string uuid',
    ref_id: 'string',
    'customer_id!': 'string',
    'type!': 'string',
    'product!': 'string',
    'status!': statementStatus,
    metadata: 'map of string',
    'statement_balances!': {
      '[]': 'array',
      'asset!': 'string',
      'amount_paid!': 'string',
      'total_amount_owed!': 'string',
    },
    'period_start!': 'string date-time',
    'period_end!': 'string date-time',
    generated_at: 'string date-time',
    paid_at: 'string date-time',
    'created_at!': 'string date-time',
  },
  IssuerQuoteExecution: {
    'id!': 'string uuid',
    'created_at!': 'string date-time',
    'asset_type!': 'string',
    'principal!': 'string',
    'fee!': 'string',
    'status!': 'PENDING|COMPLETE|FAILED',
    ref_id: 'string',
    'token_fee!': 'string',
    'token_price!': 'string',
    'token_principal!': 'string',
    'profile_id!': 'string',
  },
  CryptoWithdrawalFee: {
    'id!': 'string uuid',
    'fee!': 'string',
    'asset!': 'string',
    'expires_at!': 'string date-time',
    'destination_address!': 'string',
    'crypto_network!': cryptoNetwork,
    amount: 'string',
    total: 'string',
  },
  Problem: {
    'type!': 'string',
    'title!': 'string',
    'status!': 'integer',
    'detail!': 'string',
    'instance!': 'string',
    'request_id!': 'string',
    meta: {
      errors: { '[]': 'array', 'parameter!': 'string', 'code!': 'string', 'reason!': 'string' },
    },
  },
}

const resolved = (schema: Schema): Schema => resolveSchema(document, schema)

function scalarOf(schema: Schema): string {
  const { type, format, enum: members } = resolved(schema)
  return [members?.join('|') ?? type, format].filter((part) => part !== undefined).join(' ')
}

function parameterType(schema: Schema): string {
  const { items, maxItems, minimum, maximum, default: fallback } = schema
  if (items !== undefined) return `array<=${maxItems} of ${scalarOf(items)}`
  const range = minimum === undefined ? '' : ` ${minimum}..${maximum}`
  return `${scalarOf(schema)}${range}${fallback === undefined ? '' : ` = ${fallback}`}`
}

/** A schema in the notation of the tables above. */
function fieldsOf(given: Schema): string | Fields {
  const schema = resolved(given)
  const { items, properties, required = [], type } = schema
  if (items !== undefined) {
    const each = fieldsOf(items)
    return typeof each === 'string' ? `array of ${each}` : { '[]': 'array', ...each }
  }
  if (properties === undefined) return isMap(schema) ? 'map of string' : scalarOf(schema)
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

/** Client generators read a map's values from additionalProperties and ignore patternProperties. */
function isMap(schema: Schema): boolean {
  const { type, additionalProperties } = schema as Schema & {
    readonly additionalProperties?: Schema
  }
  return type === 'object' && additionalProperties?.type === 'string'
}

/** The components besides those in `shapes`. */
const shared = [
  'Address',
  'RoutingDetails',
  'RtpRoutingDetails',
  'RoutingNumberType',
  'FiatAccountOwner',
  'PersonDetails',
  'InstitutionDetails',
  'FiatNetworkInstructions',
  'WireInstructions',
  'CbitInstructions',
  'DbsActInstructions',
  'CubixInstructions',
  'ScbInstructions',
  'RtpInstructions',
  'ListedFiatNetworkInstructions',
  'ListedWireInstructions',
  'CryptoNetwork',
  'ConversionTargetAsset',
  'FiatAccountStatus',
  'StatementStatus',
  'FiatDepositInstructionsStatus',
  'IssuerQuoteStatus',
  'StatementBalance',
  'FiatAccountsPage',
  'StatementsPage',
  'FiatDepositInstructionsPage',
  'DepositAddressesPage',
  'IssuerQuoteExecutionsPage',
  'ProblemMeta',
  'ParameterFault',
  'CreateCryptoWithdrawalFeeRequest',
  'CreateCryptoWithdrawalFeeRequestByAmount',
  'CreateCryptoWithdrawalFeeRequestByTotal',
]

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

  test('has exactly the paths of the contract, each with its one method', () => {
    assert.deepEqual(
      Object.keys(document.paths).toSorted(),
      [...Object.keys(contract), feePath].toSorted(),
    )
    for (const [path, methods] of Object.entries(document.paths)) {
      assert.deepEqual(Object.keys(methods), [path === feePath ? 'post' : 'get'])
    }
  })

  test('names each operation and each schema once', () => {
    const named = Object.values(document.paths).map(({ get, post }) => (get ?? post)?.operationId)
    assert.equal(new Set(named).size, named.length)
    const names = Object.keys(document.components.schemas)
    assert.deepEqual(names.toSorted(), [...Object.keys(shapes), ...shared].toSorted())
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
    const used = Object.values(contract).map(({ scope }) => scope)
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

for (const [path, { scope, body, parameters }] of Object.entries(contract)) {
  describe(path, () => {
    const operation = document.paths[path]?.get

    test('requires the scope of the contract', () => {
      assert.deepEqual(operation?.security, [{ oauth2: [scope] }])
    })

    test('has every parameter of the contract with its type', () => {
      const found = (operation?.parameters ?? []).map(({ name, in: place, required, schema }) => [
        name,
        [parameterType(schema), place, required],
      ])
      const expected = Object.entries(parameters).map(([name, [type, required]]) => [
        name,
        [type, name === 'id' ? 'path' : 'query', required !== undefined],
      ])
      assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected))
    })

    test('documents the body of the contract and the problems', () => {
      const { 200: good, 304: held, ...refusals } = operation?.responses ?? {}
      const schema = good?.content?.['application/json']?.schema
      const [envelope, item] = body.split(': ')
      if (item === undefined) {
        assert.equal(schema?.$ref, `#/components/schemas/${body}`)
        assert.equal(held, undefined)
      } else {
        const page = resolved(schema ?? {})
        assert.deepEqual(Object.keys(page.properties ?? {}), [envelope, 'next_page_cursor'])
        assert.deepEqual(page.required, [envelope])
        const { items, maxItems } = page.properties?.[String(envelope)] ?? {}
        assert.equal(maxItems, 1000)
        assert.equal(items?.$ref, `#/components/schemas/${item}`)
        assert.equal(held?.content, undefined)
      }
      const statuses = ['400', '401', '403', '417', '429', '431', '500', '503']
      const expected = item === undefined ? [...statuses, '404'].toSorted() : statuses
      assert.deepEqual(Object.keys(refusals), expected)
      for (const refusal of Object.values(refusals)) {
        assert.deepEqual(Object.keys(refusal.content ?? {}), ['application/problem+json'])
        const problem = refusal.content?.['application/problem+json']?.schema
        assert.equal(problem?.$ref, '#/components/schemas/Problem')
      }
    })
  })
}

describe(feePath, () => {
  const operation = document.paths[feePath]?.post

  test('requires the scope of the contract', () => {
    assert.deepEqual(operation?.security, [{ oauth2: ['fee:write_crypto_withdrawal_fee'] }])
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
      '#/components/schemas/CryptoWithdrawalFee',
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
