import type { Answered, Asked, Wrong } from '../wrong-server.ts'

/** What the wrong servers do, in terms of a request or an answer. */

/** What a table of wrong servers may use. */
export type World = {
  /** A token of the client that runs the checks, with every scope. */
  readonly ownToken: string
  /** A token of the other customer. */
  readonly foreignToken: string
  readonly foreignCustomer: string
}

export type WrongServerCase = {
  /** Completes the sentence "a server that …". */
  readonly fault: string
  /** The ids of the statements that name it, in the order of the report. */
  readonly breaks: readonly string[]
  readonly wrong: Wrong | ((world: World) => Wrong)
  /** Acme has more than a page of accounts; Borealis has few records, so that a run is short. */
  readonly client?: 'acme'
  /** Checks these groups only, where all statements would take long. */
  readonly only?: readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads records of every shape
export type Json = any

/** The five lists, their single reads and the fee; the feed has wrong servers of its own. */
const isApi = ({ url }: Asked): boolean =>
  url.pathname.startsWith('/v2/') && !url.pathname.startsWith('/v2/events')
const isRead = ({ url }: Asked): boolean => /[0-9a-f]{12}$/i.test(url.pathname)

/** Whether a list is requested: any, or the one whose path ends so. */
export const isList = (asked: Asked, path = ''): boolean =>
  isApi(asked) && !isRead(asked) && asked.method === 'GET' && asked.url.pathname.endsWith(path)

/** Whether one record is requested: any, or one of the kind that the path names. */
export const isSingle = (asked: Asked, kind = ''): boolean =>
  isApi(asked) && isRead(asked) && asked.method === 'GET' && asked.url.pathname.includes(kind)

export const isAccount = (asked: Asked): boolean => isSingle(asked, 'fiat-accounts')
export const isAccounts = (asked: Asked): boolean => isList(asked, '/fiat-accounts')

export const isFeed = ({ url }: Asked): boolean => url.pathname === '/v2/events'
export const isEvent = ({ url }: Asked): boolean => url.pathname.startsWith('/v2/events/')

export const isFee = ({ url }: Asked): boolean => url.pathname.endsWith('/crypto-withdrawal')
export const isToken = ({ url }: Asked): boolean => url.pathname === '/oauth2/token'

export const asks = ({ url }: Asked, ...names: readonly string[]): boolean =>
  names.every((name) => url.searchParams.has(name))

/** Changes the text of successful answers to the requests that are meant. */
export const replaced = (
  pattern: RegExp,
  by: string | ((found: string, ...groups: string[]) => string),
  isMeant: (asked: Asked) => boolean = isApi,
): Wrong => ({
  answer: ({ status, text }, asked) =>
    status === 200 && isMeant(asked) ? { text: text.replace(pattern, by as string) } : {},
})
/** Changes the records of each page of a list. */
export const eachPage = (
  change: (items: Json[], asked: Asked) => Json[],
  isMeant: (asked: Asked) => boolean = () => true,
): Wrong => ({
  answer: ({ status, text }, asked) => {
    if (status !== 200 || !isList(asked) || !isMeant(asked)) return {}
    const body = JSON.parse(text)
    const name = envelopeOf(body)
    return { text: JSON.stringify({ ...body, [name]: change(body[name], asked) }) }
  },
})

/** Changes each record of a list. */
export const eachItem = (
  change: (item: Json) => Json,
  isMeant?: (asked: Asked) => boolean,
): Wrong => eachPage((items) => items.map(change), isMeant)

export const envelopeOf = (body: Json): string =>
  Object.keys(body).find((member) => Array.isArray(body[member])) ?? ''

export const isEmpty = ({ status, text }: Answered): boolean =>
  status === 200 && /:\[\]\}$/.test(text)

/** Changes the query before the correct server sees it. */
export const withQuery = (
  change: (query: URLSearchParams, asked: Asked) => void,
  isMeant: (asked: Asked) => boolean = isList,
): Wrong => ({
  request: (asked) =>
    isMeant(asked) ? { url: changedUrl(asked, (query) => change(query, asked)) } : {},
})

/** Takes one value of a list's parameter as another. */
export const takes = (name: string, value: string, other: string): Wrong =>
  withQuery((query) => {
    if (query.get(name) === value) query.set(name, other)
  })

/** Takes a value as if it were not there. */
export const ignoresValue = (name: string, value: string): Wrong =>
  withQuery((query) => {
    if (query.get(name) === value) query.delete(name)
  })

export function changedUrl({ url }: Asked, change: (query: URLSearchParams) => void): URL {
  const changed = new URL(url)
  change(changed.searchParams)
  return changed
}

/** Answers what the correct server refuses or hides, read with another token. */
export const answeredWith = (
  token: string,
  isMeant: (asked: Asked) => boolean,
  isHidden: (answered: Answered) => boolean = ({ status }) => status >= 400,
): Wrong => ({
  answer: (answered, asked, again) =>
    isMeant(asked) && isHidden(answered) ? again(withToken(asked, token)) : {},
})

export const withToken = (asked: Asked, token: string): Asked => ({
  ...asked,
  headers: withHeader(asked.headers, 'authorization', `Bearer ${token}`),
})

export function withHeader(headers: Headers, name: string, value: string): Headers {
  const changed = new Headers(headers)
  changed.set(name, value)
  return changed
}

/** Leaves a header out of the answers that are meant. */
export const drops = (name: string, isMeant: (asked: Asked) => boolean = () => true): Wrong => ({
  answer: ({ headers }, asked) => (isMeant(asked) ? { headers: withoutHeader(headers, name) } : {}),
})

export function withoutHeader(headers: Headers, name: string): Headers {
  const kept = new Headers(headers)
  kept.delete(name)
  return kept
}

/** Answers with another status; the body stays. */
export const statusOf = (
  from: number,
  to: number,
  isMeant: (asked: Asked) => boolean = isApi,
): Wrong => ({
  answer: ({ status }, asked) => (status === from && isMeant(asked) ? { status: to } : {}),
})

/** Answers a problem to the requests that are meant. */
export const refuses = (
  status: number,
  isMeant: (answered: Answered, asked: Asked) => boolean,
): Wrong => ({
  answer: (answered, asked) => (isMeant(answered, asked) ? problem(status, asked) : {}),
})

/** A problem as the correct server writes it, for what only the wrong one refuses. */
export function problem(status: number, { url }: Asked): Answered {
  const request_id = '5f5b1c8e-0000-4000-8000-000000000000'
  const body = {
    type: 'about:blank',
    title: 'Problem',
    status,
    detail: 'The request is refused.',
    instance: url.pathname,
    request_id,
  }
  const headers = { 'content-type': 'application/problem+json', 'x-request-id': request_id }
  return { status, headers: new Headers(headers), text: JSON.stringify(body) }
}

export const json = (body: Json): Partial<Answered> => ({
  status: 200,
  headers: new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' }),
  text: JSON.stringify(body),
})
