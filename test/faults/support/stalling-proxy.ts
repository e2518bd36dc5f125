import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and can stop forwarding without a word, as a network does. */
export type StallingProxy = {
  readonly port: number
  /** From now on nothing is forwarded. Connections stay open, and new ones are taken. */
  stall(): void
  /** What was held back goes on its way. */
  flow(): void
  /** Bytes forwarded so far, both ways. */
  forwarded(): number
  close(): void
}

/** `heard` is told what clients say, on its way. */
export async function openStallingProxy(
  toPort: number,
  heard: (said: Buffer) => void = () => {},
): Promise<StallingProxy> {
  const sockets = new Set<Socket>()
  let isStalled = false
  let forwarded = 0
  const join = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on('data', (bytes) => {
      forwarded += bytes.length
      to.write(bytes)
    })
    from.on('error', () => {})
    // A server that is told nothing hears no goodbye either.
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    if (isStalled) from.pause()
  }
  const listener = createServer((incoming) => {
    const outgoing = connect(toPort, '127.0.0.1')
    incoming.on('data', heard)
    join(incoming, outgoing)
    join(outgoing, incoming)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    stall: () => {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    flow: () => {
      isStalled = false
      for (const socket of sockets) socket.resume()
    },
    forwarded: () => forwarded,
    close: () => {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
