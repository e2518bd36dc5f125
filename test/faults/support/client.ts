import { Agent, request } from 'node:http'

/** The result of a request. `cut`: the connection failed before the answer was complete. */
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

/** Keeps connections, as a load balancer does. Nothing is retried. */
const agent = new Agent({ keepAlive: true })

/** Never rejects. An answer whose body ends early is `cut`. */
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

/** The status of the answer; 0 if the connection failed. */
export const statusOf = (answer: Answer): number => (answer.kind === 'cut' ? 0 : answer.status)

/** The median, the 90th percentile and the maximum, in milliseconds. */
export function spreadOf(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0
  return { median: at(0.5), mostly: at(0.9), slowest: at(1) }
}

/** How long requests took, for a diagnostic. The speed of the machine decides it. */
export function describeTimes(times: readonly number[]): string {
  const { median, slowest } = spreadOf(times)
  return `median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`
}
