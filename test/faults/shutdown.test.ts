import assert from 'node:assert/strict'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { longTest } from '../support/long.ts'
import { type Program, startProgram } from '../support/program.ts'
import { type RawAnswer, rawRequest } from '../support/raw-request.ts'
import { until } from '../support/until.ts'
import { beginRequest, openSocket } from './support/begun-request.ts'

const id = 'acme_sandbox'
const secret = 'bursar_sandbox_secret_of_acme'
const form = `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`

let program: Program
let url: string

beforeEach(async () => {
  program = startProgram(['sandbox', '--port', '0', '--json'], { env: { LOG_LEVEL: 'info' } })
  url = JSON.parse(await program.firstLine).url
})
afterEach(() => program.kill('SIGKILL'))

/** Resolves when the port refuses connections. */
async function untilRefused(): Promise<void> {
  const isTaken = () =>
    new Promise<boolean>((resolve) => {
      const { socket } = openSocket(url)
      socket.on('connect', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('close', () => resolve(false))
    })
  while (await isTaken());
}

describe('SIGTERM', () => {
  test('answers the requests in progress, accepts no connection and exits with 0', async () => {
    const begun = await beginRequest(url, form)
    program.process.kill('SIGTERM')
    await untilRefused()
    assert.equal(program.process.exitCode, null, 'the process ended with a request in progress')
    begun.socket.write(form)
    await once(begun.socket, 'close')
    const [, answer = ''] = begun.received().split(/(?=HTTP\/1\.1 200 )/)
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.match(answer, /"access_token":"[^"]+"/)
    assert.equal(await program.ended, 0)
  })

  test('closes idle connections after a grace period', async () => {
    const { socket, received } = openSocket(url)
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(socket, 'data')
    assert.match(received(), /^HTTP\/1\.1 200 /)
    program.process.kill('SIGTERM')
    await once(socket, 'close')
    assert.equal(await program.ended, 0)
  })

  test('sends every answer completely under load', async () => {
    const token = JSON.parse(
      (
        await rawRequest(url, '/oauth2/token', {
          method: 'POST',
          headers: ['content-type', 'application/x-www-form-urlencoded'],
          body: form,
        })
      ).text,
    ).access_token
    let answered = 0
    const failures: string[] = []
    const traffic = async () => {
      for (;;) {
        let answer: RawAnswer
        try {
          answer = await rawRequest(url, '/v2/transfer/fiat-accounts?limit=500', {
            headers: ['authorization', `Bearer ${token}`],
          })
        } catch (error) {
          failures.push(String((error as NodeJS.ErrnoException).code))
          return
        }
        const body = JSON.parse(answer.text)
        assert.equal(answer.status, 200)
        assert.equal(body.items.length, 500)
        answered += 1
        if (answered === 20) program.process.kill('SIGTERM')
      }
    }
    await Promise.all(Array.from({ length: 8 }, traffic))
    assert.ok(answered >= 20, 'no request failed before the signal')
    // A cut answer would have failed to parse; these codes mean that none had begun.
    assert.deepEqual(
      failures.filter((code) => !['ECONNREFUSED', 'ECONNRESET'].includes(code)),
      [],
    )
    assert.equal(await program.ended, 0)
  })

  test('a second SIGTERM ends the process at once', async () => {
    const begun = await beginRequest(url, form)
    program.process.kill('SIGTERM')
    await untilRefused()
    // A signal right after the first counts as the same one, so this test insists.
    await until(() => {
      program.process.kill('SIGTERM')
      return program.process.exitCode !== null
    })
    assert.equal(await program.ended, 1)
    begun.socket.destroy()
  })

  longTest('ends by itself though a request stays incomplete', async (t) => {
    const begun = await beginRequest(url, form)
    const startedAt = performance.now()
    program.process.kill('SIGTERM')
    assert.equal(await program.ended, 0)
    t.diagnostic(`it ended after ${(performance.now() - startedAt).toFixed(0)} ms`)
    begun.socket.destroy()
  })
})

// Sent right after the ready line, when a supervisor may already send signals.
test('SIGINT ends the process as SIGTERM does', async () => {
  program.process.kill('SIGINT')
  assert.equal(await program.ended, 0)
})
