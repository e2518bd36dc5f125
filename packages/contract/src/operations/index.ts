import type { GetOperation, ListOperation, Operation } from '../operation.ts'
import { createCryptoWithdrawalFee } from './create-crypto-withdrawal-fee.ts'
import { getFiatAccount } from './get-fiat-account.ts'
import { getFiatDepositInstructions } from './get-fiat-deposit-instructions.ts'
import { listDepositAddresses } from './list-deposit-addresses.ts'
import { getEvent, listEvents } from './list-events.ts'
import { listFiatAccounts } from './list-fiat-accounts.ts'
import { listFiatDepositInstructions } from './list-fiat-deposit-instructions.ts'
import { listIssuerQuoteExecutions } from './list-issuer-quote-executions.ts'
import { listStatements } from './list-statements.ts'

/** The API: every operation under `/v2`, in the contract's order, and the events. */
export const operations: readonly Operation[] = [
  getFiatAccount,
  listFiatAccounts,
  listStatements,
  getFiatDepositInstructions,
  listFiatDepositInstructions,
  listDepositAddresses,
  listIssuerQuoteExecutions,
  createCryptoWithdrawalFee,
  listEvents,
  getEvent,
]

export const gets = operations.filter(
  (operation): operation is GetOperation => 'unknownId' in operation,
)

export const lists = operations.filter(
  (operation): operation is ListOperation => 'envelope' in operation,
)
