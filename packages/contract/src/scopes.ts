/** The read scopes of the contract, section 5. Operations may share a scope. */
export const readScopes = [
  'transfer:read_fiat_account',
  'statements:read_statement',
  'transfer:read_fiat_deposit_instructions',
  'transfer:read_deposit_address',
  'exchange:read_issuer_quote_execution',
] as const

export const customerScopes = [
  ...readScopes,
  'fee:write_crypto_withdrawal_fee',
  'events:read_event',
] as const

/** Scopes of the operator's clients, for `/ingest/v1` only. No customer's client may have one. */
export const operatorScopes = [
  'ingest:consume_fee',
  'ingest:write_fiat_accounts',
  'ingest:write_fiat_deposit_instructions',
  'ingest:write_deposit_addresses',
  'ingest:write_statements',
  'ingest:write_issuer_quote_executions',
  'ingest:read_record',
  'ingest:read_history',
  'ingest:read_audit',
  'ingest:search',
  'ingest:export',
  'ingest:read_health',
  'ingest:read_imports',
  'ingest:cancel_import',
] as const

export type Scope = (typeof customerScopes)[number]
export type OperatorScope = (typeof operatorScopes)[number]

/** The scopes that a client may have; a client without a customer is the operator's. */
export const scopesOf = (customerId: string | null): readonly (Scope | OperatorScope)[] =>
  customerId === null ? operatorScopes : customerScopes
