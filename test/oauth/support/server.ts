import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Problem } from '../../../src/contract/problem.ts'
import type { OAuthRequest, OAuthRoute } from '../../../src/oauth/route.ts'

/** The least that mounts the routes on a port of its own. `routes` is asked at each request. */
export async function listen(routes: () => readonly OAuthRoute[], port = 0) {
  const server = createServer(async (message, response) => {
    const request = await readRequest(message)
    const route = routes().find(
      ({ method, path }) => method === request.method && path === request.path,
    )
    try {
      const answer = (await route?.handle(request)) ?? { status: 404, headers: {}, body: null }
      response.writeHead(answer.status, answer.headers).end(answer.body)
    } catch (error) {
      const status = error instanceof Problem ? error.status : 500
      response.writeHead(status, { 'Content-Type': 'application/problem+json' }).end('{}')
    }
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: stop(server) }
}

const stop = (server: Server) => async (): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function readRequest(message: IncomingMessage): Promise<OAuthRequest> {
  const [path = '', rawQuery = ''] = (message.url ?? '').split(/\?(.*)/s)
  const { method = '', headers, rawHeaders } = message
  const forwarded = headers['x-test-address']
  const address = String(forwarded ?? message.socket.remoteAddress)
  return { method, path, rawQuery, headers, rawHeaders, body: await buffer(message), address }
}
