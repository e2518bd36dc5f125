import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { Document, Schema } from '../support/documented.ts'
import { startTestService } from '../support/harness.ts'

/**
 * Compares the document with the contract. Every path, parameter and field below was copied by hand
 * from spec/interface.md and the decisions, not from the source.
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
  '': 'object|null',
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
    routing_details: routing,
    fiat_account_owner_address: address,
  },
}
const owner: Fields = {
  person_details: { 'first_name!': 'string', 'last_name!': 'string', '': 'object|null' },
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
    fiat_account_owner: { 'person_details!': { '': 'object|null' } },
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

const scalarOf = ({ type, format, enum: members }: Schema): string =>
  [members?.join('|') ?? type, format].filter((part) => part !== undefined).join(' ')

function parameterType(schema: Schema): string {
  const { items, maxItems, minimum, maximum, default: fallback } = schema
  if (items !== undefined) return `array<=${maxItems} of ${scalarOf(items)}`
  const range = minimum === undefined ? '' : ` ${minimum}..${maximum}`
  return `${scalarOf(schema)}${range}${fallback === undefined ? '' : ` = ${fallback}`}`
}

/** A schema in the notation of the tables above. */
function fieldsOf(schema: Schema): string | Fields {
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

function everySchema(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(everySchema)
  return 'enum' in value || 'type' in value || 'properties' in value
    ? [value as Schema, ...inner]
    : inner
}

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
    assert.deepEqual(
      Object.keys(document.components.schemas).toSorted(),
      Object.keys(shapes).toSorted(),
    )
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
        assert.notEqual((schema.items ?? schema).type, undefined, name)
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
        assert.deepEqual(Object.keys(schema?.properties ?? {}), [envelope, 'next_page_cursor'])
        assert.deepEqual(schema?.required, [envelope])
        const items = schema?.properties?.[String(envelope)]?.items
        assert.equal(items?.$ref, `#/components/schemas/${item}`)
        assert.equal(held?.content, undefined)
      }
      const statuses = ['400', '401', '403', '429', '431', '500', '503']
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
    const figure = { type: 'string', pattern: '^[0-9]*\\.?[0-9]+$', maxLength: 64 }
    const plain = Object.entries(schema?.properties ?? {}).map(([name, member]) => {
      const { description: _, ...rest } = member as Schema & { description?: string }
      return [name, rest]
    })
    assert.deepEqual(Object.fromEntries(plain), {
      asset: { type: 'string', minLength: 1, maxLength: 200 },
      destination_address: { type: 'string', minLength: 1 },
      crypto_network: { type: 'string', enum: cryptoNetwork.split('|') },
      amount: figure,
      total: figure,
    })
    assert.deepEqual(schema?.required, ['asset', 'destination_address', 'crypto_network'])
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
      '413',
      '429',
      '431',
      '500',
      '503',
    ])
  })
})

for (const [name, fields] of Object.entries(shapes)) {
  test(`${name} has the fields and types of the contract, and requires the mandatory ones`, () => {
    assert.deepEqual(fieldsOf(document.components.schemas[name] ?? {}), fields)
  })
}
