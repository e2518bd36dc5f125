/** The scopes of the contract, section 5: one for each operation, several operations may share one. */
export const readScopes = [
  'transfer:read_fiat_account',
  'statements:read_statement',
  'transfer:read_fiat_deposit_instructions',
  'transfer:read_deposit_address',
  'exchange:read_issuer_quote_execution',
] as const

export const customerScopes = [...readScopes, 'fee:write_crypto_withdrawal_fee'] as const

export type Scope = (typeof customerScopes)[number]
