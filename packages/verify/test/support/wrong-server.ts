import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request on its way to the server behind, and an answer on its way back. */
export type Asked = {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string
}
export type Answered = { readonly status: number; readonly headers: Headers; readonly text: string }

/** Answers as the correct server does. */
export type Behind = (asked: Asked) => Promise<Answered>

export type Wrong = {
  /** Changes the request before the server behind sees it. */
  readonly request?: (asked: Asked) => Partial<Asked>
  /** Changes the answer. `again` sends another request to the server behind. */
  readonly answer?: (
    answered: Answered,
    asked: Asked,
    again: Behind,
  ) => Partial<Answered> | Promise<Partial<Answered>>
}

/** A server that passes everything on to a correct one, and is wrong in one way. */
export const wronged =
  (behind: Behind, wrong: Wrong): Behind =>
  async (given) => {
    const asked = { ...given, ...wrong.request?.(given) }
    const right = await behind(asked)
    return { ...right, ...(await wrong.answer?.(right, asked, behind)) }
  }

export type WrongServer = AsyncDisposable & { readonly url: string }

/** The same behind a port, for what only a connection shows. */
export async function startWrongServer(target: string, wrong: Wrong): Promise<WrongServer> {
  const answer = wronged(passTo(target), wrong)
  const server = createServer((incoming, outgoing) => {
    const relay = async () => {
      const { status, headers, text } = await answer(await readAsked(incoming))
      outgoing.writeHead(status, Object.fromEntries(headers))
      outgoing.end(text)
    }
    relay().catch((error: unknown) => outgoing.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The same in this process: what `verify` calls instead of the global `fetch`. */
export const fetchOf =
  (answer: Behind) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const answered = await answer(await sentOf(url, init))
    const { status } = answered
    const text = status === 304 ? null : answered.text
    return new Response(text, { status, headers: answered.headers })
  }

/** A form becomes text as `fetch` would send it. */
async function sentOf(url: string, { method = 'GET', headers, body }: RequestInit): Promise<Asked> {
  const at = { method, url: new URL(url) }
  if (method === 'GET') return { ...at, headers: new Headers(headers), body: '' }
  const request = new Request(url, { method, ...(headers && { headers }), ...(body && { body }) })
  return { ...at, headers: request.headers, body: await request.text() }
}

/**
 * The answers of a correct server, each requested once for all wrong servers. The answers to a POST
 * differ each time, so those of a run are kept in their order: `forRun` begins a run.
 */
export function recordAnswers(target: string): { readonly forRun: () => Behind } {
  const pass = passTo(target)
  const recorded = new Map<string, Promise<Answered>>()
  return {
    forRun: () => {
      const posts = new Map<string, number>()
      return (asked) => {
        const key = keyOf(asked)
        const nth = asked.method === 'GET' ? 0 : (posts.get(key) ?? 0)
        posts.set(key, nth + 1)
        const answered = recorded.get(`${nth} ${key}`) ?? pass(asked)
        recorded.set(`${nth} ${key}`, answered)
        return answered
      }
    },
  }
}

const passedHeaders = ['authorization', 'content-type', 'if-none-match'] as const

const keyOf = ({ method, url, headers, body }: Asked): string =>
  [method, url.pathname + url.search, ...passedHeaders.map((name) => headers.get(name)), body].join(
    '\n',
  )

async function readAsked(incoming: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = new Headers()
  for (const name of passedHeaders) {
    const value = incoming.headers[name]
    if (value !== undefined) headers.set(name, value)
  }
  const { method = 'GET', url = '' } = incoming
  const body = Buffer.concat(chunks).toString('utf8')
  return { method, url: new URL(url, 'http://wrong'), headers, body }
}

const passTo =
  (target: string): Behind =>
  async ({ method, url, headers, body }) => {
    const passed = new Headers({ 'accept-encoding': 'identity' })
    for (const name of passedHeaders) {
      const value = headers.get(name)
      if (value !== null) passed.set(name, value)
    }
    const response = await fetch(`${target}${url.pathname}${url.search}`, {
      method,
      headers: passed,
      ...(method === 'POST' && { body }),
    })
    const kept = new Headers(response.headers)
    for (const name of ['content-length', 'connection', 'keep-alive', 'transfer-encoding']) {
      kept.delete(name)
    }
    return { status: response.status, headers: kept, text: await response.text() }
  }
