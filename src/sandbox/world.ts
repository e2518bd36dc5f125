import type { RecordInput } from '../contract/resource.ts'
import { type RecordKind, recordKinds } from '../resources/catalogue.ts'
import { depositAddresses } from './deposit-addresses.ts'
import { depositInstructions } from './deposit-instructions.ts'
import { fiatAccounts } from './fiat-accounts.ts'
import { issuerQuotes } from './issuer-quotes.ts'
import { statements } from './statements.ts'

/** A customer of the sandbox and its client. The README prints these credentials. */
export type SampleCustomer = {
  readonly customerId: string
  readonly clientId: string
  readonly clientSecret: string
}

export const acme: SampleCustomer = {
  customerId: 'acme',
  clientId: 'acme_sandbox',
  clientSecret: 'bursar_sandbox_secret_of_acme',
}

export const borealis: SampleCustomer = {
  customerId: 'borealis',
  clientId: 'borealis_sandbox',
  clientSecret: 'bursar_sandbox_secret_of_borealis',
}

export const sampleCustomers = [acme, borealis] as const

/** The operator's client that the console signs in with. It reads, and writes nothing. */
export const consoleStaff = {
  clientId: 'console_sandbox',
  clientSecret: 'bursar_sandbox_secret_of_the_console',
  scopes: [
    'ingest:search',
    'ingest:read_history',
    'ingest:read_record',
    'ingest:export',
    'ingest:read_health',
  ],
} as const

type Records = Readonly<Record<RecordKind, readonly RecordInput[]>>

/**
 * The sandbox's records, always the same. The counts test page boundaries: Acme has 1,001 live fiat
 * accounts and exactly 1,000 deposit addresses. Borealis has exactly 100 accounts and 101
 * addresses.
 */
export function worldRecords(): Records {
  const [ofAcme, ofBorealis] = [recordsOfAcme(), sampleRecords(borealis.customerId)]
  const all = recordKinds.map((kind) => [kind, [...ofAcme[kind], ...ofBorealis[kind]]])
  return Object.fromEntries(all)
}

const recordsOfAcme = (): Records => ({
  'fiat-accounts': fiatAccounts('acme', 1001, 20),
  'fiat-deposit-instructions': depositInstructions('acme', 250),
  'deposit-addresses': depositAddresses('acme', 1000),
  statements: statements('acme', 240),
  'issuer-quote-executions': issuerQuotes('acme', 600),
})

/** As many records as Borealis has. The customer's id decides every id and figure. */
export const sampleRecords = (customerId: string): Records => ({
  'fiat-accounts': fiatAccounts(customerId, 100, 1),
  'fiat-deposit-instructions': depositInstructions(customerId, 10),
  'deposit-addresses': depositAddresses(customerId, 101),
  statements: statements(customerId, 12),
  'issuer-quote-executions': issuerQuotes(customerId, 100),
})
