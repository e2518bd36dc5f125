import type { Socket } from 'node:net'

export const sessionLost = () =>
  Object.assign(new Error('the session was lost'), { code: 'ECONNRESET' })

/** Resolves when it has happened for the first time, with what it told; rejects where the socket ends before. */
export function happened(
  socket: Socket,
  event: 'connect' | 'data' | 'secureConnect',
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    // Of no effect once it has happened.
    socket.once('close', () => reject(sessionLost()))
    socket.once(event, (what: unknown) => {
      socket.off('error', reject)
      resolve(what)
    })
  })
}
