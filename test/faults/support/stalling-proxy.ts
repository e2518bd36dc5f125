import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that can silently stop forwarding, as a broken network does. */
export type StallingProxy = {
  readonly port: number
  /** Stops forwarding. Connections stay open, and new ones are accepted. */
  stall(): void
  /** Forwards again, including what was held back. */
  flow(): void
  /** Bytes forwarded in both directions. */
  forwarded(): number
  close(): void
}

/** Calls `heard` with the bytes that clients send. */
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
    // A stalled server does not see the close either.
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
