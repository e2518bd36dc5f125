import { decimalPattern } from '../../values/decimal.ts'
import { parseInstant, printInstant } from '../../values/instant.ts'
import {
  anyObject,
  anyText,
  arrayOf,
  metadata,
  nullable,
  object,
  oneOf,
  refined,
  type Shape,
  type Shapes,
  text,
  textThat,
} from './shape.ts'

/** The records of the contract, section 2, and what Bursar always answers beyond it. */

const uuid = refined(
  textThat(
    'identifiers',
    (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value),
    'a UUID',
  ),
  textThat('identifiers', (value) => value === value.toLowerCase(), 'a UUID in lower case'),
)
const memo = refined(
  anyText,
  textThat('identifiers', (value) => /^[A-Z0-9]{16}$/.test(value), '16 characters of A-Z and 0-9'),
)
const time = refined(
  textThat('timestamps', (value) => parseInstant(value) !== undefined, 'an RFC 3339 date-time'),
  textThat(
    'timestamps',
    (value) => {
      const instant = parseInstant(value)
      return instant !== undefined && printInstant(instant.micros) === value
    },
    'a date-time in UTC with Z and the fewest of 0, 3 or 6 fraction digits',
  ),
)
const amountForm = new RegExp(decimalPattern)
const signedForm = /^-?[0-9]*\.?[0-9]+$/
const signedAmount = textThat(
  'amounts',
  (value) => signedForm.test(value),
  'a decimal string, which may be negative',
)
const unsigned = textThat('amounts', (value) => amountForm.test(value), 'a decimal string')
/** The contract says of one amount that it may be negative, and not of the others. */
const amount = refined(signedAmount, unsigned)

const cryptoNetwork = oneOf(
  'BITCOIN',
  'ETHEREUM',
  'BITCOIN_CASH',
  'LITECOIN',
  'SOLANA',
  'POLYGON_POS',
  'BASE',
  'ARBITRUM_ONE',
  'STELLAR',
  'INK',
  'XLAYER',
)

/** Text of a vocabulary that Bursar has closed. */
const settled = (...members: readonly string[]): Shape => refined(anyText, oneOf(...members))

/** Lists withhold everything but the country, so no other member is expected. */
const address = nullable(
  object({
    expected: { country: text },
    optional: {
      address1: anyText,
      address2: anyText,
      city: anyText,
      province: anyText,
      zip_code: anyText,
    },
  }),
)
const routingNumberType = settled('ABA', 'SWIFT')
const routing = object({
  expected: {
    routing_number_type: routingNumberType,
    routing_number: text,
    bank_name: text,
    bank_address: address,
  },
})
const rtpRouting = object({
  expected: { routing_number: text },
  optional: { routing_number_type: routingNumberType, bank_name: text, bank_address: address },
})

/** Statuses and metadata of the wire member belong to lists of fiat accounts only. */
const networks = (inWire: Shapes): Shape =>
  object({
    optional: {
      wire: object({
        expected: {
          account_number: text,
          fiat_account_owner_address: address,
          routing_details: routing,
        },
        optional: { intermediary_routing_details: routing, ...inWire },
      }),
      cbit: object({ expected: { wallet_address: text } }),
      dbs_act: object({ expected: { account_number: text } }),
      cubix: object({ expected: { account_id: text } }),
      scb: object({ expected: { account_number: text } }),
      rtp: object({
        expected: { account_number: text, routing_details: rtpRouting },
        optional: { fiat_account_owner_address: address },
      }),
    },
  })

const owner = object({
  optional: {
    person_details: nullable(object({ expected: { first_name: text, last_name: text } })),
    institution_details: object({ expected: { name: text } }),
  },
})

/** The contract limits the metadata of fiat accounts only. */
const boundedMetadata = refined(anyObject, metadata(50, 500))

const accountStatus = oneOf('PENDING', 'APPROVED', 'REJECTED')

const accountMembers = {
  id: uuid,
  fiat_network_instructions: networks({ status: accountStatus, metadata: metadata(6, 100) }),
  created_at: time,
}
const accountOptions = {
  ref_id: text,
  identity_id: text,
  account_id: text,
  fiat_account_owner: owner,
  metadata: metadata(6, 100),
  updated_at: time,
}

/** The contract requires the status of an account that is read alone, and not in lists. */
export const listedFiatAccount = object({
  required: accountMembers,
  expected: { status: accountStatus },
  optional: accountOptions,
})

export const fiatAccount = object({
  required: { ...accountMembers, status: accountStatus },
  optional: accountOptions,
})

export const depositInstructions = object({
  required: {
    id: uuid,
    profile_id: text,
    identity_id: text,
    status: oneOf('VALID', 'DEPRECATED'),
    memo_id: memo,
    fiat_network_instructions: networks({}),
    created_at: time,
  },
  expected: { customer_id: text },
  optional: {
    account_id: text,
    ref_id: text,
    fiat_account_owner: owner,
    metadata: boundedMetadata,
  },
})

/** The contract does not say which members are required; so it is with the next two kinds. */
export const depositAddress = object({
  expected: {
    id: uuid,
    profile_id: text,
    customer_id: text,
    crypto_network: cryptoNetwork,
    address: text,
    conversion_target_asset: settled('NO_CONVERSION', 'USD'),
    compatible_crypto_networks: arrayOf(cryptoNetwork),
    created_at: time,
  },
  optional: { identity_id: text, account_id: text, ref_id: text, metadata: boundedMetadata },
})

export const statement = object({
  expected: {
    id: uuid,
    customer_id: text,
    type: text,
    product: text,
    status: oneOf(
      'STATEMENT_STATUS_UNSPECIFIED',
      'STATEMENT_STATUS_INITIATED',
      'STATEMENT_STATUS_GENERATED',
      'STATEMENT_STATUS_PAID',
    ),
    statement_balances: arrayOf(
      object({ expected: { asset: text, amount_paid: amount, total_amount_owed: amount } }),
    ),
    period_start: time,
    period_end: time,
    created_at: time,
  },
  optional: {
    ref_id: text,
    metadata: refined(metadata(), metadata(50, 500)),
    generated_at: time,
    paid_at: time,
  },
})

export const issuerQuote = object({
  expected: {
    id: uuid,
    created_at: time,
    asset_type: text,
    principal: amount,
    fee: amount,
    status: oneOf('PENDING', 'COMPLETE', 'FAILED'),
    token_fee: amount,
    token_price: amount,
    token_principal: signedAmount,
    profile_id: text,
  },
  optional: { ref_id: text },
})

export const withdrawalFee = object({
  required: {
    id: refined(anyText, uuid),
    fee: unsigned,
    asset: text,
    expires_at: time,
    destination_address: text,
    crypto_network: cryptoNetwork,
  },
  optional: { amount: unsigned, total: unsigned },
})
