import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that keeps what it receives. */
export function openSocket(url: string): { socket: Socket; received: () => string } {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  socket.on('error', () => {})
  return { socket, received: () => received }
}

/** A token request in flight: the server has answered 100 Continue and waits for the form. */
export async function beginRequest(url: string, form: string) {
  const opened = openSocket(url)
  opened.socket.write(
    [
      'POST /oauth2/token HTTP/1.1',
      'host: x',
      'content-type: application/x-www-form-urlencoded',
      `content-length: ${form.length}`,
      'expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  )
  await once(opened.socket, 'data')
  assert.match(opened.received(), /^HTTP\/1\.1 100 /)
  return opened
}
