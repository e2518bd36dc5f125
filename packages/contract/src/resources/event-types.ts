import type { Scope } from '../scopes.ts'
import { type RecordKind, resourceOf, resources } from './catalogue.ts'

/** A kind of record, or the fees of withdrawals. */
type EventKind = RecordKind | 'fees'

/** The scope that a client needs to read the records of a kind, and so to see their events. */
const scopes: Readonly<Record<EventKind, Scope>> = {
  'fiat-accounts': 'transfer:read_fiat_account',
  'fiat-deposit-instructions': 'transfer:read_fiat_deposit_instructions',
  'deposit-addresses': 'transfer:read_deposit_address',
  statements: 'statements:read_statement',
  'issuer-quote-executions': 'exchange:read_issuer_quote_execution',
  fees: 'fee:write_crypto_withdrawal_fee',
}

export const eventKinds: readonly EventKind[] = [...resources.map(({ kind }) => kind), 'fees']

/** The kinds whose events a client with these scopes sees. */
export const kindsOfScopes = (held: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(eventKinds.filter((kind) => held.has(scopes[kind])))

/** `fiat_account`. */
export const objectTypeOf = (kind: string): string =>
  kind === 'fees' ? 'crypto_withdrawal_fee' : resourceOf(kind).table

/** The type of an event: `fiat_account.created`. */
export const eventTypeOf = (kind: string, action: string): string =>
  `${objectTypeOf(kind)}.${action}`

const actionsOf = (kind: EventKind): readonly string[] =>
  kind === 'fees' ? ['consumed'] : ['created', 'updated', 'deleted']

/** The kind of each type of event. */
export const kindOfType: ReadonlyMap<string, string> = new Map(
  eventKinds.flatMap((kind) =>
    actionsOf(kind).map((action) => [eventTypeOf(kind, action), kind] as const),
  ),
)
