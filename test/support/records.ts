import type { RecordInput, RecordKind } from '@bursar/contract'

/** The smallest valid record of each kind, with the given members replaced. */

export const anId = (at: number): string =>
  `aaaaaaaa-0000-4000-8000-${String(at).padStart(12, '0')}`

export const aFiatAccount = (over: RecordInput = {}): RecordInput => ({
  id: anId(1),
  customer_id: 'acme',
  status: 'PENDING',
  fiat_network_instructions: {
    wire: {
      account_number: '12345678',
      fiat_account_owner_address: { country: 'USA', city: 'Boston' },
      routing_details: {
        routing_number_type: 'ABA',
        routing_number: '021000021',
        bank_name: 'First Sample Bank',
        bank_address: { country: 'USA' },
      },
    },
  },
  created_at: '2026-01-01T00:00:00Z',
  ...over,
})

export const aDepositAddress = (over: RecordInput = {}): RecordInput => ({
  id: anId(1),
  profile_id: 'profile-1',
  customer_id: 'acme',
  crypto_network: 'ETHEREUM',
  address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
  conversion_target_asset: 'NO_CONVERSION',
  compatible_crypto_networks: ['ETHEREUM'],
  created_at: '2026-01-01T00:00:00Z',
  ...over,
})

export const someDepositInstructions = (over: RecordInput = {}): RecordInput => ({
  id: anId(1),
  profile_id: 'profile-1',
  customer_id: 'acme',
  status: 'VALID',
  memo_id: 'MEMO000000000001',
  fiat_network_instructions: { cubix: { account_id: 'cubix-1' } },
  created_at: '2026-01-01T00:00:00Z',
  ...over,
})

export const aStatement = (over: RecordInput = {}): RecordInput => ({
  id: anId(1),
  customer_id: 'acme',
  type: 'STATEMENT_TYPE_USDG_REWARD',
  product: 'USDG_REWARDS',
  status: 'STATEMENT_STATUS_GENERATED',
  statement_balances: [{ asset: 'USDG', amount_paid: '0', total_amount_owed: '1.50' }],
  period_start: '2026-01-01T00:00:00Z',
  period_end: '2026-02-01T00:00:00Z',
  created_at: '2026-02-01T00:00:00Z',
  ...over,
})

export const anIssuerQuote = (over: RecordInput = {}): RecordInput => ({
  id: anId(1),
  customer_id: 'acme',
  profile_id: 'profile-1',
  asset_type: 'USDG',
  status: 'COMPLETE',
  principal: '100',
  fee: '0',
  token_principal: '-100',
  token_fee: '0',
  token_price: '1',
  created_at: '2026-01-01T00:00:00Z',
  ...over,
})

export const samples: Readonly<Record<RecordKind, (over?: RecordInput) => RecordInput>> = {
  'fiat-accounts': aFiatAccount,
  'fiat-deposit-instructions': someDepositInstructions,
  'deposit-addresses': aDepositAddress,
  statements: aStatement,
  'issuer-quote-executions': anIssuerQuote,
}
