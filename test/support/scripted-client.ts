import assert from 'node:assert/strict'
import { type BursarOptions, createBursar } from '../../sdk/src/index.ts'
import { turn, until } from './until.ts'
import type { VirtualTime } from './virtual-time.ts'

export type Scripted = () => Promise<Response> | Response

type Tuned = 'hooks' | 'maxAttempts' | 'retryDelayMs' | 'timeoutMs'
export type ScriptedOptions = Partial<Pick<BursarOptions, Tuned>>

export const token = 'the-access-token'

export const never: Scripted = () => new Promise<never>(() => {})

export const failing =
  (status: number, headers = {}): Scripted =>
  () =>
    new Response('', { status, headers })

/** A `fetch` that answers in turn, and not after the last answer, and the queries it was given. */
export function scriptedFetch(answers: readonly Scripted[]) {
  const queries: URLSearchParams[] = []
  const fetch: NonNullable<BursarOptions['fetch']> = async (input, init) => {
    const { searchParams } = new URL(input)
    const answer = answers[queries.push(searchParams) - 1] ?? never
    const aborted = new Promise<never>((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
    return Promise.race([answer(), aborted])
  }
  return { fetch, queries, sent: () => queries.length }
}

/** A client whose requests are answered in turn. */
export function scriptedClient(answers: readonly Scripted[], options: ScriptedOptions = {}) {
  const { fetch, ...scripted } = scriptedFetch(answers)
  const bursar = createBursar({
    baseUrl: 'http://127.0.0.1:1',
    fetchToken: async () => ({ access_token: token, expires_in: 900 }),
    retryDelayMs: 0,
    fetch,
    ...options,
  })
  return { bursar, ...scripted }
}

/** Asserts that more is sent once a time has passed, and not before. */
export async function assertSentAfter(ms: number, sent: () => number, time: VirtualTime) {
  // The client has the answer, and begins its wait.
  await turn()
  const before = sent()
  await time.advance(ms - 1)
  assert.equal(sent(), before, `a request was sent within ${ms - 1} ms`)
  await time.advance(1)
  await until(() => sent() > before)
}
