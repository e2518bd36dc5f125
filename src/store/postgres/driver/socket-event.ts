import type { Socket } from 'node:net'

export const sessionLost = () =>
  Object.assign(new Error('the session was lost'), { code: 'ECONNRESET' })

/** Resolves with the first event of this name. Rejects if the socket fails or closes first. */
export function socketEvent(
  socket: Socket,
  name: 'connect' | 'data' | 'secureConnect',
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    // Has no effect after the promise has resolved.
    socket.once('close', () => reject(sessionLost()))
    socket.once(name, (value: unknown) => {
      socket.off('error', reject)
      resolve(value)
    })
  })
}
