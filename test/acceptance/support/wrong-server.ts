import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request on its way to the server behind, and an answer on its way back. */
export type Asked = {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: Buffer
}
export type Answered = { readonly status: number; readonly headers: Headers; readonly text: string }

export type Wrong = {
  /** Changes the request before the server behind sees it. */
  readonly request?: (asked: Asked) => Partial<Asked>
  /** Changes the answer. `again` sends another request to the server behind. */
  readonly answer?: (
    answered: Answered,
    asked: Asked,
    again: (asked: Asked) => Promise<Answered>,
  ) => Partial<Answered> | Promise<Partial<Answered>>
}

export type WrongServer = AsyncDisposable & { readonly url: string }

/** A server that passes everything on to a correct one, and is wrong in one way. */
export async function startWrongServer(behind: string, wrong: Wrong): Promise<WrongServer> {
  const server = createServer((incoming, outgoing) => {
    const relay = async () => {
      const given = await readAsked(incoming)
      const asked = { ...given, ...wrong.request?.(given) }
      const send = (request: Asked) => pass(behind, request)
      const right = await send(asked)
      const answered = { ...right, ...(await wrong.answer?.(right, asked, send)) }
      outgoing.writeHead(answered.status, Object.fromEntries(answered.headers))
      outgoing.end(answered.text)
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

async function readAsked(incoming: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { authorization, 'content-type': type, 'if-none-match': tag } = incoming.headers
  const headers = new Headers({ 'accept-encoding': 'identity' })
  if (authorization !== undefined) headers.set('authorization', authorization)
  if (type !== undefined) headers.set('content-type', type)
  if (tag !== undefined) headers.set('if-none-match', tag)
  const { method = 'GET', url = '' } = incoming
  return { method, url: new URL(url, 'http://wrong'), headers, body: Buffer.concat(chunks) }
}

async function pass(behind: string, { method, url, headers, body }: Asked): Promise<Answered> {
  const response = await fetch(`${behind}${url.pathname}${url.search}`, {
    method,
    headers,
    ...(method === 'POST' && { body }),
  })
  const kept = new Headers(response.headers)
  for (const name of ['content-length', 'connection', 'keep-alive', 'transfer-encoding']) {
    kept.delete(name)
  }
  return { status: response.status, headers: kept, text: await response.text() }
}
