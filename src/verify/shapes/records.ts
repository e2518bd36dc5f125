import { decimalPattern } from '../../values/decimal.ts'
import { parseInstant, printInstant } from '../../values/instant.ts'
import {
  anyText,
  arrayOf,
  metadata,
  nullable,
  object,
  oneOf,
  type Shapes,
  text,
  textThat,
} from './shape.ts'

/** The records of the contract, section 2, with the members that are always present. */

const uuid = textThat(
  'identifiers',
  (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  'a UUID in lower case',
)
const memo = textThat(
  'identifiers',
  (value) => /^[A-Z0-9]{16}$/.test(value),
  '16 characters of A-Z and 0-9',
)
const time = textThat(
  'timestamps',
  (value) => {
    const instant = parseInstant(value)
    return instant !== undefined && printInstant(instant.micros) === value
  },
  'a date-time in UTC with Z and the fewest of 0, 3 or 6 fraction digits',
)
const amountForm = new RegExp(decimalPattern)
const amount = textThat('amounts', (value) => amountForm.test(value), 'a decimal string')
const signedAmount = textThat(
  'amounts',
  (value) => /^-?[0-9]*\.?[0-9]+$/.test(value),
  'a decimal string, which may be negative',
)

const cryptoNetwork = oneOf(
  ...['BITCOIN', 'ETHEREUM', 'BITCOIN_CASH', 'LITECOIN', 'SOLANA', 'POLYGON_POS', 'BASE'],
  ...['ARBITRUM_ONE', 'STELLAR', 'INK', 'XLAYER'],
)

/** Lists withhold everything but the country, so no other member is required. */
const address = nullable(
  object(
    { country: text },
    {
      address1: anyText,
      address2: anyText,
      city: anyText,
      province: anyText,
      zip_code: anyText,
    },
  ),
)
const routingNumberType = oneOf('ABA', 'SWIFT')
const routing = object({
  routing_number_type: routingNumberType,
  routing_number: text,
  bank_name: text,
  bank_address: address,
})
const rtpRouting = object(
  { routing_number: text },
  { routing_number_type: routingNumberType, bank_name: text, bank_address: address },
)

/** Statuses and metadata of the wire member belong to lists of fiat accounts only. */
const networks = (inWire: Shapes) =>
  object(
    {},
    {
      wire: object(
        { account_number: text, fiat_account_owner_address: address, routing_details: routing },
        { intermediary_routing_details: routing, ...inWire },
      ),
      cbit: object({ wallet_address: text }),
      dbs_act: object({ account_number: text }),
      cubix: object({ account_id: text }),
      scb: object({ account_number: text }),
      rtp: object(
        { account_number: text, routing_details: rtpRouting },
        { fiat_account_owner_address: address },
      ),
    },
  )

const owner = object(
  {},
  {
    person_details: nullable(object({ first_name: text, last_name: text })),
    institution_details: object({ name: text }),
  },
)

const accountStatus = oneOf('PENDING', 'APPROVED', 'REJECTED')

export const fiatAccount = object(
  {
    id: uuid,
    status: accountStatus,
    fiat_network_instructions: networks({ status: accountStatus, metadata: metadata(6, 100) }),
    created_at: time,
  },
  {
    ref_id: text,
    identity_id: text,
    account_id: text,
    fiat_account_owner: owner,
    metadata: metadata(6, 100),
    updated_at: time,
  },
)

export const depositInstructions = object(
  {
    id: uuid,
    profile_id: text,
    customer_id: text,
    identity_id: text,
    status: oneOf('VALID', 'DEPRECATED'),
    memo_id: memo,
    fiat_network_instructions: networks({}),
    created_at: time,
  },
  { account_id: text, ref_id: text, fiat_account_owner: owner, metadata: metadata(50, 500) },
)

export const depositAddress = object(
  {
    id: uuid,
    profile_id: text,
    customer_id: text,
    crypto_network: cryptoNetwork,
    address: text,
    conversion_target_asset: oneOf('NO_CONVERSION', 'USD'),
    compatible_crypto_networks: arrayOf(cryptoNetwork),
    created_at: time,
  },
  { identity_id: text, account_id: text, ref_id: text, metadata: metadata(50, 500) },
)

export const statement = object(
  {
    id: uuid,
    customer_id: text,
    type: text,
    product: text,
    status: oneOf(
      ...['STATEMENT_STATUS_UNSPECIFIED', 'STATEMENT_STATUS_INITIATED'],
      ...['STATEMENT_STATUS_GENERATED', 'STATEMENT_STATUS_PAID'],
    ),
    statement_balances: arrayOf(
      object({ asset: text, amount_paid: amount, total_amount_owed: amount }),
    ),
    period_start: time,
    period_end: time,
    created_at: time,
  },
  { ref_id: text, metadata: metadata(50, 500), generated_at: time, paid_at: time },
)

export const issuerQuote = object(
  {
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
  { ref_id: text },
)

export const withdrawalFee = object(
  {
    id: uuid,
    fee: amount,
    asset: text,
    expires_at: time,
    destination_address: text,
    crypto_network: cryptoNetwork,
  },
  { amount, total: amount },
)
