import { limits } from '../platform/limits.ts'
import type { Call, Exchange, Send } from './exchange.ts'
import { type Item, isItem, memberOf, textOf } from './json.ts'
import { depositAddresses, fiatDepositInstructions, type List } from './lists.ts'
import type { Tokens } from './tokens.ts'
import { NotTestable, need } from './verdicts.ts'

export type Query = Readonly<Record<string, string | readonly string[]>>

/** The newest records of a list. */
export type Sample = {
  readonly exchange: Exchange
  readonly items: readonly Item[]
  /** Whether the list has no further record. */
  readonly isWhole: boolean
}

export type WalkedPage = {
  readonly exchange: Exchange
  readonly items: readonly Item[]
  readonly cursor: string | undefined
}

export type Walk = { readonly limit: number; readonly pages: readonly WalkedPage[] }

/** What one client reads. Samples and walks are read once and shared by the statements. */
export type Session = {
  /** Calls a path with the client's token, or with another one. */
  call(path: string, call?: Call & { readonly token?: string | null }): Promise<Exchange>
  /** Calls a list; it adds the customer where the operation requires one. */
  list(list: List, query?: Query, call?: Call & { readonly token?: string }): Promise<Exchange>
  /** The records of a list; not testable unless the list answers them. */
  items(list: List, query: Query): Promise<Sample>
  sample(list: List): Promise<Sample>
  /** Reads the sample again in small pages; needs two records. */
  walk(list: List): Promise<Walk>
  /** Not testable unless the token has the scope. */
  needScope(scope: string): void
  customer(): Promise<string | undefined>
  readonly tokens: Tokens
}

export type SessionOptions = {
  readonly target: string
  readonly tokens: Tokens
  readonly customer: string | undefined
  readonly send: Send
}

export function openSession({ target, tokens, customer, send }: SessionOptions): Session {
  const call: Session['call'] = (path, { token = tokens.all, ...rest } = {}) =>
    send(`${target}${path}`, {
      ...rest,
      headers: {
        accept: 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...rest.headers,
      },
    })
  const needScope = (scope: string) =>
    need(tokens.scopes?.includes(scope) ?? true, `the client does not have the scope ${scope}`)
  const findCustomer = once(
    async () => customer ?? (await tokens.introspectedCustomer()) ?? recordedCustomer(session),
  )
  const session: Session = {
    call,
    needScope,
    customer: findCustomer,
    tokens,
    list: async (list, query = {}, options) => {
      const needsCustomer = list.path === '/v2/statements' && query.customer_id === undefined
      const owner = needsCustomer ? await findCustomer() : ''
      need(owner !== undefined, 'the customer is not known; name it with --customer')
      const parameters = needsCustomer ? { customer_id: owner, ...query } : query
      return call(`${list.path}${queryOf(parameters)}`, options)
    },
    items: async (list, query) => {
      needScope(list.scope)
      return sampleOf(await session.list(list, query), list)
    },
    sample: perList((list) => session.items(list, { limit: String(limits.pageSizeMax) })),
    walk: perList((list) => walkList(session, list)),
  }
  return session
}

/** `?ids=a&ids=b`, or nothing for no parameter. */
function queryOf(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, each]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

function sampleOf(exchange: Exchange, list: List): Sample {
  const found = memberOf(exchange.body, list.envelope)
  needList(exchange, list)
  need(exchange.status === 200 && Array.isArray(found), `it answers HTTP ${exchange.status}`)
  const items = found.filter(isItem)
  return { exchange, items, isWhole: cursorOf(exchange) === undefined }
}

/** Not testable where the target may do without the list. */
export function needList({ status }: Exchange, list: List): void {
  const isAbsent = list.isMentionedOnly === true && status === 404
  need(!isAbsent, 'the target does not have the list, whose path the contract does not show')
}

/** The next cursor. Null and an empty text end a walk too; one statement is about them. */
function cursorOf({ body }: Exchange): string | undefined {
  const cursor = textOf(body, 'next_page_cursor')
  return cursor === '' ? undefined : cursor
}

/** A quarter of the sample on each page, so that its end falls on a page's end or beyond. */
async function walkList(session: Session, list: List): Promise<Walk> {
  const { items } = await session.sample(list)
  need(items.length > 1, itHas(items))
  const limit = Math.min(Math.ceil(items.length / 4), limits.pageSizeMax)
  const pages: WalkedPage[] = []
  let cursor: string | undefined
  do {
    const query = { limit: String(limit), ...(cursor !== undefined && { page_cursor: cursor }) }
    const exchange = await session.list(list, query)
    const page = sampleOf(exchange, list)
    cursor = cursorOf(exchange)
    pages.push({ exchange, items: page.items, cursor })
  } while (cursor !== undefined && pages.length < limits.verifyPagesMax)
  return { limit, pages }
}

/** The reason of a list that has too few records. */
export const itHas = (items: readonly Item[]): string =>
  items.length === 0 ? 'it has no record' : 'it has one record only'

/** Most records name their customer. A server that leaks may name another's. */
async function recordedCustomer(session: Session): Promise<string | undefined> {
  for (const list of [depositAddresses, fiatDepositInstructions]) {
    try {
      const { items } = await session.items(list, { limit: '1' })
      const customer = textOf(items[0], 'customer_id')
      if (customer !== undefined) return customer
    } catch (error) {
      // Another list may name the customer.
      if (!(error instanceof NotTestable)) throw error
    }
  }
  return undefined
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

function perList<T>(read: (list: List) => Promise<T>): (list: List) => Promise<T> {
  const made = new Map<List, Promise<T>>()
  return (list) => {
    const known = made.get(list) ?? read(list)
    made.set(list, known)
    return known
  }
}
