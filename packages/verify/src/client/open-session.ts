import { depositAddresses, fiatDepositInstructions, type List, pageSize } from '../contract.ts'
import { idOf, textOf } from '../json.ts'
import { ifNotTestable, need } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'
import { queryOf } from '../ways.ts'
import { needRecords, type Session, type Walk } from './client-session.ts'
import type { Tokens } from './client-tokens.ts'
import type { Send } from './exchange.ts'
import { events, readEvents, readFeed, walkFeed } from './feed.ts'
import { readPages, sampleOf } from './pages.ts'
import { findDeleted, readShown } from './shown.ts'

export type SessionOptions = {
  readonly target: string
  readonly tokens: Tokens
  readonly customer: string | undefined
  readonly send: Send
  readonly newId: () => string
  /** What a report says of the client's token, unless it is the first client's. */
  readonly whose?: string
}

export function openSession(options: SessionOptions): Session {
  const { target, tokens, customer, send, newId, whose } = options
  const call: Session['call'] = (path, { token = tokens.all, ...rest } = {}) => {
    const of =
      token === null ? 'without a token' : token === tokens.all ? whose : 'with another token'
    return send(`${target}${path}`, {
      ...(of !== undefined && { sent: of }),
      ...rest,
      headers: {
        accept: 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...rest.headers,
      },
    })
  }
  const hasScope = (scope: string) => tokens.scopes?.includes(scope) ?? true
  const needScope = (scope: string) =>
    need(hasScope(scope), `the client does not have the scope ${scope}`)
  const findCustomer = once(async () => {
    if (customer !== undefined) return customer
    const { body } = await tokens.introspect(tokens.all)
    return textOf(body, 'customer_id') ?? recordedCustomer(session)
  })
  const first = perList((list) => firstPage(session, list))
  const session: Session = {
    call,
    hasScope,
    needScope,
    customer: findCustomer,
    newId,
    tokens,
    list: async (list, query = {}, options) => {
      const needsCustomer =
        list.requiredParameter === 'customer_id' && query.customer_id === undefined
      const owner = needsCustomer ? await findCustomer() : ''
      need(owner !== undefined, 'the customer is not known; name it with --customer')
      const parameters = needsCustomer ? { customer_id: owner, ...query } : query
      return call(`${list.path}${queryOf(parameters)}`, options)
    },
    items: async (list, query) => {
      needScope(list.scope)
      return sampleOf(await session.list(list, query), list)
    },
    limitOf: async (list) => (await first(list)).limit,
    sample: async (list) => {
      const { sample } = await first(list)
      const haveIds = sample.items.every((item) => idOf(item) !== '')
      need(haveIds, 'its records have no id')
      return sample
    },
    whole: perList(async (list) => {
      const { sample, limit } = await first(list)
      return readPages(session, list, { limit }, verifyLimits.deepPagesMax, sample)
    }),
    judged: perList(async (list) => {
      const { pages, items: every } = await session.whole(list)
      needRecords(every)
      return pages.flatMap(({ exchange, items }) =>
        items.map((item) => {
          const evidence = { ...exchange, part: item }
          return { item, evidence, faults: list.shape(item, 'record') }
        }),
      )
    }),
    walk: perList((list) => walkList(session, list)),
    shown: perList((list) => readShown(session, list)),
    deleted: perList((list) => findDeleted(session, list)),
    ...feedOf({ call, needScope }),
  }
  return session
}

function feedOf(caller: Pick<Session, 'call' | 'needScope'>) {
  const { feedPagesMax: pagesMax } = verifyLimits
  const feed = once(() => readFeed(caller, { limit: String(events.limitMax) }, { pagesMax }))
  return {
    feed,
    feedWalk: once(async () => walkFeed(caller, await feed())),
    newestEvents: once(() => readEvents(caller, { order: 'DESC' })),
  }
}

/** As many records as a page may have; fewer where the target cannot do that. */
async function firstPage(session: Session, list: List) {
  session.needScope(list.scope)
  const limit = String(pageSize.max)
  const sample = await session.items(list, { limit }).catch(ifNotTestable)
  if (sample !== undefined) return { limit, sample }
  const smaller = String(pageSize.default)
  return { limit: smaller, sample: await session.items(list, { limit: smaller }) }
}

/** A quarter of the sample on each page, so that its end falls on a page's end or beyond. */
async function walkList(session: Session, list: List): Promise<Walk> {
  const { items } = await session.sample(list)
  needRecords(items, 2)
  const limit = Math.min(Math.ceil(items.length / 4), pageSize.max)
  const pages = await readPages(session, list, { limit: String(limit) }, verifyLimits.pagesMax)
  return { ...pages, limit }
}

/** Most records name their customer. A server that leaks may name another's. */
async function recordedCustomer(session: Session): Promise<string | undefined> {
  for (const list of [depositAddresses, fiatDepositInstructions]) {
    // Another list may name the customer.
    const found = await session.items(list, { limit: '1' }).catch(ifNotTestable)
    const customer = textOf(found?.items[0], 'customer_id')
    if (customer !== undefined) return customer
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
