import type { RecordInput, RecordKind } from '@bursar/contract'
import { depositAddresses } from './deposit-addresses.ts'
import { depositInstructions } from './deposit-instructions.ts'
import { fiatAccounts } from './fiat-accounts.ts'
import { issuerQuotes } from './issuer-quotes.ts'
import { currentOf, type Lives } from './lives.ts'
import { statements } from './statements.ts'
import { fixedStory, recentStory, type Story, type Troubles } from './story.ts'

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

/** The customers that have a client. */
export const sampleCustomers = [acme, borealis] as const

type SmallCustomer = Troubles & {
  readonly name: string
  /** How many accounts it has. */
  readonly size: number
  readonly owedTokens: number
}

const calm: Troubles = { failed: [], waiting: [], short: [], unpaid: [] }

/** For the screens of the operator's staff. They have no client. */
const smallCustomers: Readonly<Record<string, SmallCustomer>> = {
  brackwell: { ...calm, name: 'Brackwell Payroll', size: 9, owedTokens: 21_000, waiting: [0] },
  caldenmoor: { ...calm, name: 'Caldenmoor Digital', size: 6, owedTokens: 8_500, unpaid: [0] },
  estrellan: { ...calm, name: 'Estrellan Custody', size: 12, owedTokens: 140_000 },
  hoshiro: { ...calm, name: 'Hoshiro Trading', size: 10, owedTokens: 64_000, failed: [5] },
  luminto: {
    name: 'Luminto Wallet',
    size: 14,
    owedTokens: 14_000,
    failed: [3],
    waiting: [1, 2],
    short: [3, 6],
    unpaid: [0],
  },
  norrholm: {
    name: 'Norrholm Exchange',
    size: 16,
    owedTokens: 45_000,
    failed: [6],
    waiting: [1],
    short: [2, 5],
    unpaid: [8, 0],
  },
  pellworth: {
    ...calm,
    name: 'Pellworth Treasury',
    size: 8,
    owedTokens: 88_000,
    short: [0, 4, 7],
  },
  quillmere: {
    ...calm,
    name: 'Quillmere Pay',
    size: 11,
    owedTokens: 29_000,
    failed: [2],
    short: [2, 7],
    unpaid: [0],
  },
  tarnfield: {
    ...calm,
    name: 'Tarnfield Remit',
    size: 15,
    owedTokens: 125_000,
    failed: [1, 2, 7],
    short: [0, 1, 2, 8],
  },
  vessily: {
    ...calm,
    name: 'Vessily Markets',
    size: 13,
    owedTokens: 57_000,
    waiting: [1],
    short: [4],
    unpaid: [6, 0, 1],
  },
}

/** The names that staff see beside the ids of customers. */
export const displayNames: Readonly<Record<string, string>> = {
  acme: 'Acme Payments',
  borealis: 'Borealis Digital',
  ...Object.fromEntries(Object.entries(smallCustomers).map(([id, { name }]) => [id, name])),
}

/** The operator's client that the console signs in with. It reads, and writes nothing. */
export const consoleStaff = {
  clientId: 'console_sandbox',
  clientSecret: 'bursar_sandbox_secret_of_the_console',
  scopes: [
    'ingest:search',
    'ingest:read_history',
    'ingest:read_record',
    'ingest:export',
    'ingest:read_audit',
    'ingest:read_health',
  ],
} as const

export type Records = Readonly<Record<RecordKind, readonly RecordInput[]>>

/**
 * What became of the records of Acme and Borealis, always the same. The counts test page
 * boundaries: Acme has 1,001 live fiat accounts and exactly 1,000 deposit addresses. Borealis has
 * exactly 100 accounts and 101 addresses.
 */
export const worldLives = (): Lives => joined([livesOfAcme(), livesLikeBorealis('borealis')])

/** The records of those two, as they are now. */
export const worldRecords = (): Records => currentRecords(worldLives())

/**
 * What became of the records of all customers. Those of the small ones end at `now`: staff look at
 * what happened since yesterday.
 */
export const sampleLives = (now: bigint): Lives =>
  joined([
    worldLives(),
    ...Object.entries(smallCustomers).map(([customer, { size, owedTokens, ...troubles }]) =>
      livesOfSmall(recentStory({ customer, owedTokens, troubles }, now), size),
    ),
  ])

/** As many records as Borealis has. The customer's id decides every id and figure. */
export const sampleRecords = (customerId: string): Records =>
  currentRecords(livesLikeBorealis(customerId))

export const currentRecords = (lives: Lives): Records =>
  ofKinds((kind) => lives[kind].map(currentOf))

function livesOfAcme(): Lives {
  const troubles = { failed: [4, 9], waiting: [0, 2], short: [4, 9, 12, 21], unpaid: [3, 1, 8] }
  const story = fixedStory({ customer: 'acme', owedTokens: 110_000, troubles })
  return {
    'fiat-accounts': fiatAccounts(story, 1001, 20),
    'fiat-deposit-instructions': depositInstructions(story, 250),
    'deposit-addresses': depositAddresses(story, 1000),
    statements: statements(story, 240, 2),
    'issuer-quote-executions': issuerQuotes(story, 600),
  }
}

function livesLikeBorealis(customerId: string): Lives {
  const troubles = { failed: [4, 9], waiting: [2], short: [5, 8], unpaid: [3, 1] }
  const story = fixedStory({ customer: customerId, owedTokens: 36_000, troubles })
  return {
    'fiat-accounts': fiatAccounts(story, 100, 1),
    'fiat-deposit-instructions': depositInstructions(story, 10),
    'deposit-addresses': depositAddresses(story, 101),
    statements: statements(story, 12, 2),
    'issuer-quote-executions': issuerQuotes(story, 100),
  }
}

const livesOfSmall = (story: Story, size: number): Lives => ({
  'fiat-accounts': fiatAccounts(story, size, 1, 67),
  'fiat-deposit-instructions': depositInstructions(story, size, 131),
  'deposit-addresses': depositAddresses(story, size, 83),
  statements: statements(story, 14, 1),
  'issuer-quote-executions': issuerQuotes(story, 2 * size, 9),
})

const joined = (all: readonly Lives[]): Lives =>
  ofKinds((kind) => all.flatMap((lives) => lives[kind]))

const ofKinds = <T>(of: (kind: RecordKind) => T): Readonly<Record<RecordKind, T>> => ({
  'fiat-accounts': of('fiat-accounts'),
  'fiat-deposit-instructions': of('fiat-deposit-instructions'),
  'deposit-addresses': of('deposit-addresses'),
  statements: of('statements'),
  'issuer-quote-executions': of('issuer-quote-executions'),
})
