import type { Resource } from '../contract/resource.ts'
import { depositAddress } from './deposit-address.ts'
import { fiatAccount } from './fiat-account.ts'
import { fiatDepositInstructions } from './fiat-deposit-instructions.ts'
import { issuerQuoteExecution } from './issuer-quote-execution.ts'
import { statement } from './statement.ts'

/** The five nouns. */
export const resources: readonly Resource[] = [
  fiatAccount.resource,
  fiatDepositInstructions.resource,
  depositAddress.resource,
  statement.resource,
  issuerQuoteExecution.resource,
]
