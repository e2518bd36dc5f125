import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'

/** What came of a request. `cut`: the connection failed before a whole answer had come. */
export type Answer =
  | { readonly kind: 'cut'; readonly code: string; readonly ms: number }
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string | string[] | undefined>>
      readonly text: string
      readonly ms: number
    }

export type Sent = {
  readonly method?: string
  readonly token?: string | undefined
  readonly body?: string
}

/** Connections are kept, as a balancer keeps them; nothing is tried twice. */
const agent = new Agent({ keepAlive: true })

/** Never rejects. A body that ends early is cut, whatever of it has come. */
export function send(
  url: string,
  path: string,
  { method = 'GET', token, body }: Sent = {},
): Promise<Answer> {
  const startedAt = performance.now()
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const cut = (error: NodeJS.ErrnoException) =>
    resolve({ kind: 'cut', code: error.code ?? error.message, ms: performance.now() - startedAt })
  const outgoing = request(
    `${url}${path}`,
    {
      method,
      agent,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && {
          'content-type': body.startsWith('{')
            ? 'application/json'
            : 'application/x-www-form-urlencoded',
        }),
      },
    },
    (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', cut)
      incoming.on('end', () => {
        resolve({
          kind: 'answered',
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString('utf8'),
          ms: performance.now() - startedAt,
        })
      })
    },
  )
  outgoing.on('error', cut)
  outgoing.end(body)
  return promise
}

/** The answer's status; 0 where the connection failed. */
export const statusOf = (answer: Answer): number => (answer.kind === 'cut' ? 0 : answer.status)

/** The median, the time that nine of ten stayed within, and the slowest, in milliseconds. */
function spreadOf(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0
  return { median: at(0.5), mostly: at(0.9), slowest: at(1) }
}

/**
 * 503 within a second, as it was promised. The machine may be busy with something else: most answers have half a second to
 * spare, and a single one may have met with a pause.
 */
export function assertInTime(times: readonly number[]): string {
  const { median, mostly, slowest } = spreadOf(times)
  const told = `median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`
  assert.ok(median <= 1000 && mostly <= 1500 && slowest <= 5000, `${told}, 90 % ${mostly} ms`)
  return told
}
