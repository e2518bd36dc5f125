import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Request, Route } from '@bursar/contract'
import { problemOf, renderProblem } from '../../../server/src/server/problem-of-failure.ts'

/** A minimal HTTP server for the routes. It calls `routes` at each request. */
export async function listen(routes: () => readonly Route[], port = 0) {
  const server = createServer(async (message, response) => {
    const request = await readRequest(message)
    const route = routes().find(
      ({ method, path }) => method === request.method && path === request.path,
    )
    try {
      const answer = (await route?.answer(request)) ?? { status: 404, headers: {}, body: '' }
      response.writeHead(answer.status, answer.headers).end(answer.body)
    } catch (error) {
      const problem = problemOf(error)
      const answer = route?.renderProblem?.(problem) ?? renderProblem(problem, request)
      response.writeHead(answer.status, answer.headers).end(answer.body)
    }
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: stop(server) }
}

const stop = (server: Server) => async (): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function readRequest(message: IncomingMessage): Promise<Request> {
  const [path = '', rawQuery = ''] = (message.url ?? '').split(/\?(.*)/s)
  const { method = '', headers, rawHeaders } = message
  const forwarded = headers['x-test-address']
  const address = String(forwarded ?? message.socket.remoteAddress)
  const body = await buffer(message)
  const parts = {
    method,
    path,
    rawQuery,
    headers,
    rawHeaders,
    body,
    address,
    connection: message.socket,
  }
  const left = () => AbortSignal.any([])
  return { ...parts, parameters: {}, id: 'test', left, rest: () => () => {}, trace: {} }
}
