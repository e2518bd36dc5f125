import type { Server } from 'node:http'

/** Listens on a free port and prints the line that `startProcess` waits for. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') {
      process.stdout.write(`listening on http://127.0.0.1:${address.port}\n`)
    }
  })
}
