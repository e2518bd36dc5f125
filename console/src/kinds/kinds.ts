import { depositInstructions, fiatAccounts } from './account-kinds.ts'
import type { Kind } from './kind.ts'
import { statements } from './statement-kind.ts'
import { depositAddresses, issuerQuotes } from './transfer-kinds.ts'

export const kinds: readonly Kind[] = [
  fiatAccounts,
  depositInstructions,
  depositAddresses,
  statements,
  issuerQuotes,
]

export const kindNamed = (name: string | undefined): Kind | undefined =>
  kinds.find((kind) => kind.name === name)
