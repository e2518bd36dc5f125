import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { ServerAddress } from '@bursar/base'

/** A TCP server that is no PostgreSQL; `serve` handles each connection. */
export async function listenAs(
  context: TestContext,
  ssl: ServerAddress['credentials']['ssl'],
  serve: (socket: Socket) => void,
) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    serve(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const credentials = { user: 'bursar', pass: '', database: 'bursar', ssl }
  return { sockets, address: { host: '127.0.0.1', port, label: `127.0.0.1:${port}`, credentials } }
}
