import createClient from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

type Schemas = components['schemas']

/** Everything that an integration reads, typed by the generated schema without casts. */
export type Everything = {
  readonly fiatAccount: Schemas['FiatAccount']
  readonly fiatAccounts: readonly Schemas['FiatAccountListItem'][]
  readonly statements: readonly Schemas['Statement'][]
  readonly depositInstruction: Schemas['FiatDepositInstructions']
  readonly depositInstructions: readonly Schemas['FiatDepositInstructions'][]
  readonly depositAddresses: readonly Schemas['DepositAddress'][]
  readonly issuerQuotes: readonly Schemas['IssuerQuoteExecution'][]
}

type Answered<T> = { readonly data?: T; readonly error?: Schemas['Problem'] }

/** A refused call, with the problem as the document types it. */
export class Refused extends Error {
  readonly problem: Schemas['Problem'] | undefined

  constructor(problem: Schemas['Problem'] | undefined) {
    super(problem?.detail ?? 'no answer')
    this.problem = problem
  }
}

async function dataOf<T>(answering: Promise<Answered<T>>): Promise<T> {
  const { data, error } = await answering
  if (data === undefined) throw new Refused(error)
  return data
}

/** Reads two single records, and two pages of each list with one filter each. */
export async function readEverything(
  baseUrl: string,
  token: string,
  customerId: string,
): Promise<Everything> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  const page = { limit: 5, order: 'ASC', order_by: 'CREATED_AT' } as const

  const fiatAccounts = await twoPages(async (page_cursor) => {
    const query = { ...page, page_cursor, 'created_at.gte': '2020-01-01T00:00:00Z' }
    const data = await dataOf(client.GET('/v2/transfer/fiat-accounts', { params: { query } }))
    return { items: data.items, next: data.next_page_cursor }
  })
  const depositInstructions = await twoPages(async (page_cursor) => {
    const query = { ...page, page_cursor, 'created_at.lt': '2030-01-01T00:00:00Z' }
    const path = '/v2/transfer/fiat-deposit-instructions'
    const data = await dataOf(client.GET(path, { params: { query } }))
    return { items: data.items, next: data.next_page_cursor }
  })
  const depositAddresses = await twoPages(async (page_cursor) => {
    const networks: Schemas['DepositAddress']['crypto_network'][] = ['BITCOIN', 'ETHEREUM']
    const query = { ...page, page_cursor, networks }
    const data = await dataOf(client.GET('/v2/transfer/deposit-addresses', { params: { query } }))
    return { items: data.items, next: data.next_page_cursor }
  })
  const statements = await twoPages(async (page_cursor) => {
    const statuses: Schemas['Statement']['status'][] = [
      'STATEMENT_STATUS_PAID',
      'STATEMENT_STATUS_GENERATED',
    ]
    const query = { customer_id: customerId, limit: 5, page_cursor, statuses }
    const data = await dataOf(client.GET('/v2/statements', { params: { query } }))
    return { items: data.statements, next: data.next_page_cursor }
  })
  const issuerQuotes = await twoPages(async (page_cursor) => {
    const status: Schemas['IssuerQuoteExecution']['status'][] = ['COMPLETE']
    const query = { limit: 5, page_cursor, status, 'created_range.end': '2030-01-01T00:00:00Z' }
    const data = await dataOf(client.GET('/v2/issuer-quotes', { params: { query } }))
    return { items: data.issuer_quote_executions, next: data.next_page_cursor }
  })

  const fiatAccount = await dataOf(
    client.GET('/v2/transfer/fiat-accounts/{id}', {
      params: { path: { id: idOf(fiatAccounts) }, query: { include_deleted: true } },
    }),
  )
  const depositInstruction = await dataOf(
    client.GET('/v2/transfer/fiat-deposit-instructions/{id}', {
      params: { path: { id: idOf(depositInstructions) } },
    }),
  )
  return {
    fiatAccount,
    fiatAccounts,
    statements,
    depositInstruction,
    depositInstructions,
    depositAddresses,
    issuerQuotes,
  }
}

type Page<T> = { readonly items: readonly T[]; readonly next: string | undefined }

/** Reads the first two pages; an empty cursor requests the first. */
async function twoPages<T>(read: (cursor: string) => Promise<Page<T>>): Promise<T[]> {
  const first = await read('')
  const second = first.next === undefined ? undefined : await read(first.next)
  return [...first.items, ...(second?.items ?? [])]
}

function idOf(records: readonly { readonly id: string }[]): string {
  const [first] = records
  if (first === undefined) throw new Error('there is no record to read alone')
  return first.id
}

/** Compiles only if the document is as precise as the contract. */
export function summary(everything: Everything): readonly string[] {
  const { fiatAccount, statements, depositAddresses, issuerQuotes } = everything
  // @ts-expect-error: amounts are strings, so that no float ever touches one.
  const _float: number | undefined = issuerQuotes[0]?.principal
  // @ts-expect-error: enums are closed.
  const _open: 'CLOSED' | undefined = fiatAccount.status === 'CLOSED' ? 'CLOSED' : undefined
  return [
    fiatAccount.fiat_network_instructions.wire?.routing_details.bank_address?.country ?? '',
    fiatAccount.fiat_account_owner?.person_details?.first_name ?? '',
    ...Object.values(fiatAccount.metadata ?? {}).map((value) => value.toUpperCase()),
    ...statements.flatMap(({ statement_balances }) =>
      statement_balances.map(({ total_amount_owed, asset }) => `${total_amount_owed} ${asset}`),
    ),
    ...depositAddresses.map(({ address, crypto_network }) => `${crypto_network} ${address}`),
  ]
}
