import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as passing } from 'node:timers/promises'
import { consume, quote } from './acts.ts'
import { type Answer, send, statusOf } from './client.ts'

export type WriteDeps = {
  readonly url: string
  readonly credentialsFile: string
  /** The current token of customer ash, and of the operator. */
  readonly token: (client: 'ash' | 'operator') => string
  /** A new token of customer ash, for the revocation. Undefined while none is issued. */
  readonly newToken: () => Promise<string | undefined>
  readonly form: string
  readonly isClockRight: () => boolean
}

/** Writes continuously. `assertKept` asserts that no acknowledged write is lost. */
export function startWrites(deps: WriteDeps) {
  const { url, token } = deps
  const issued = new Set<string>()
  const consumed = new Map<string, string>()
  const revoked = new Set<string>()
  let stopped = false
  const quoteAndConsume = async () => {
    for (let at = 0; !stopped; at += 1) {
      const id = idOf(await quote(url, token('ash')))
      if (id !== undefined) {
        issued.add(id)
        const reference = `withdrawal-${at}`
        if (at % 2 === 0) {
          const answer = await consume(url, token('operator'), id, reference)
          if (statusOf(answer) === 200) consumed.set(id, reference)
        }
      }
      await passing(100)
    }
  }
  const revokeSome = async () => {
    while (!stopped) {
      const isRight = deps.isClockRight()
      const one = await deps.newToken()
      if (one !== undefined && isRight && deps.isClockRight()) {
        const body = `${deps.form}&token=${one}`
        const answer = await send(url, '/oauth2/revoke', { method: 'POST', body })
        if (statusOf(answer) === 200) revoked.add(one)
      }
      await passing(2000)
    }
  }
  const running = Promise.all([quoteAndConsume(), revokeSome()])
  return {
    stop: async () => {
      stopped = true
      await running
    },
    counts: () => ({ issued: issued.size, consumed: consumed.size, revoked: revoked.size }),
    /** Needs the right clock, and tokens that are younger than their life. */
    assertKept: async () => {
      const db = new DatabaseSync(deps.credentialsFile, { readOnly: true })
      const rows = db.prepare('select id, withdrawal from fee_quote').all()
      db.close()
      const stored = new Map(rows.map((row) => [String(row.id), row.withdrawal]))
      for (const id of issued) assert.ok(stored.has(id), `the quote ${id} is lost`)
      for (const [id, reference] of consumed) {
        assert.equal(stored.get(id), reference, `the consumption of ${id}`)
      }
      for (const one of revoked) {
        const answer = await send(url, '/v2/transfer/fiat-accounts?limit=1', { token: one })
        assert.equal(statusOf(answer), 401, 'a revoked token is accepted')
      }
    },
  }
}

const idOf = (answer: Answer): string | undefined =>
  answer.kind === 'answered' && answer.status < 300 ? JSON.parse(answer.text).id : undefined
