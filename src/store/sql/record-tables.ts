/** The tables that hold records, on every store. */
export const recordTables = [
  'fiat_account',
  'fiat_account_full',
  'fiat_deposit_instructions',
  'deposit_address',
  'statement',
  'issuer_quote_execution',
  'superseded',
] as const
