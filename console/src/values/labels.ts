/** What people call the members and constants of the API. */

const members: Readonly<Record<string, string>> = {
  id: 'Id',
  ref_id: 'Reference',
  customer_id: 'Customer',
  identity_id: 'Identity',
  account_id: 'Account',
  profile_id: 'Profile',
  created_at: 'Created',
  updated_at: 'Updated',
  deleted_at: 'Deleted',
  generated_at: 'Generated',
  paid_at: 'Paid on',
  status: 'Status',
  memo_id: 'Memo',
  address: 'Address',
  crypto_network: 'Network',
  compatible_crypto_networks: 'Also receives on',
  conversion_target_asset: 'Converted to',
  type: 'Type',
  product: 'Product',
  period_start: 'Period from',
  period_end: 'Period to',
  total_amount_owed: 'Owed',
  amount_paid: 'Paid',
  statement_balances: 'Balances',
  asset_type: 'Asset',
  asset: 'Asset',
  principal: 'Principal',
  fee: 'Fee',
  token_principal: 'Tokens',
  token_fee: 'Fee in tokens',
  token_price: 'Price of a token',
  account_number: 'Account number',
  wallet_address: 'Wallet address',
  routing_number: 'Routing number',
  routing_number_type: 'Kind of routing number',
  bank_name: 'Bank',
  bank_address: 'Address of the bank',
  routing_details: 'Bank',
  intermediary_routing_details: 'Through (intermediary bank)',
  fiat_account_owner: 'Owner',
  fiat_account_owner_address: 'Address of the owner',
  fiat_network_instructions: '',
  institution_details: '',
  person_details: '',
  first_name: 'First name',
  last_name: 'Last name',
  metadata: 'Metadata',
  name: 'Name',
  country: 'Country',
  address1: 'Street',
  address2: 'Street, second line',
  city: 'City',
  province: 'State or province',
  zip_code: 'Postal code',
  wire: 'Wire',
  rtp: 'RTP',
  cbit: 'CBIT',
  dbs_act: 'DBS ACT',
  cubix: 'Cubix',
  scb: 'SCB',
  destination_address: 'To',
  expires_at: 'Valid until',
  consumed_at: 'Used',
  withdrawal: 'Withdrawal',
  amount: 'Amount',
  total: 'Total with fee',
  bank_details: 'Bank',
  source_version: 'Version of the source',
}

/** `Postal code` for `zip_code`; words of the name where the dictionary has none. */
export const labelOf = (member: string): string => members[member] ?? wordsOf(member)

/**
 * A path of members as a phrase: `fiat_network_instructions.wire.routing_details.bank_name` is
 * `Wire: Bank`. Objects that only group others are left out.
 */
export function labelOfPath(path: string): string {
  const names = path.split('.').filter((name) => !/^\d+$/.test(name))
  const at = names.indexOf('metadata')
  if (at >= 0 && at < names.length - 1) return names.slice(at + 1).join('.')
  const labels = names.map(labelOf).filter((label) => label !== '')
  return [...new Set(labels)].join(': ')
}

const constants: Readonly<Record<string, string>> = {
  STATEMENT_TYPE_USDG_REWARD: 'USDG reward',
  USDG_REWARDS: 'USDG rewards',
  NO_CONVERSION: 'no conversion',
  BITCOIN_CASH: 'Bitcoin Cash',
  POLYGON_POS: 'Polygon',
  ARBITRUM_ONE: 'Arbitrum One',
  XLAYER: 'X Layer',
  STATEMENT_STATUS_UNSPECIFIED: 'No status',
  SHORTFALL: 'shortfall',
}

/** `USDG reward` for `STATEMENT_TYPE_USDG_REWARD`. Codes of assets stay as they are. */
export const wordOf = (constant: string): string =>
  constants[constant] ?? wordsOf(constant.replace(/^STATEMENT_(STATUS|TYPE)_/, ''))

const wordsOf = (text: string): string => capital(text.replaceAll('_', ' ').toLowerCase())

/** The text with a capital at its start. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What else a search says that it matched. */
const matches: Readonly<Record<string, string>> = {
  id: 'Id is',
  ref_id: 'Reference is',
  memo_id: 'Memo is or begins with',
  address: 'Address is',
  account_id: 'Account is',
  identity_id: 'Identity is',
  profile_id: 'Profile is',
  withdrawal: 'Withdrawal is',
  account_number: 'Account number ends in',
  bank_name: 'Bank’s name has',
  fiat_account_owner: 'Owner’s name has',
}

export const matchText = (matched: string): string => matches[matched] ?? `${labelOf(matched)} is`
