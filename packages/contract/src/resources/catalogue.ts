import assert from 'node:assert/strict'
import type { Resource } from '../resource.ts'
import { depositAddress } from './deposit-address.ts'
import { fiatAccount } from './fiat-account.ts'
import { fiatDepositInstructions } from './fiat-deposit-instructions.ts'
import { issuerQuoteExecution } from './issuer-quote-execution.ts'
import { statement } from './statement.ts'

const catalogue = [
  fiatAccount.resource,
  fiatDepositInstructions.resource,
  depositAddress.resource,
  statement.resource,
  issuerQuoteExecution.resource,
] as const

export type RecordKind = (typeof catalogue)[number]['kind']

/** Every kind of record. Tables, grants, commands and the sandbox derive from this list. */
export const resources: readonly Resource<string, RecordKind>[] = catalogue

export function resourceOf(kind: string): Resource<string, RecordKind> {
  const found = resources.find((resource) => resource.kind === kind)
  assert(found !== undefined, `there is no kind ${kind}`)
  return found
}

export const recordKinds: readonly RecordKind[] = resources.map(({ kind }) => kind)
