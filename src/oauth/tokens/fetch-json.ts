import { limits } from '../../platform/limits.ts'

/**
 * One JSON document from another issuer: no redirects (they could lead anywhere), bounded in time
 * and size. Rejects with an Error that names the address.
 */
export async function fetchJson(url: string): Promise<unknown> {
  const answer = await fetch(url, {
    redirect: 'error',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(limits.issuerTimeoutMs),
  })
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
  return JSON.parse(await readBounded(answer, url))
}

async function readBounded(answer: Response, url: string): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += part.length
    // Leaving the loop cancels the stream, and with it the connection.
    if (size > limits.issuerAnswerBytesMax)
      throw new Error(`${url} answered more than can be right`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
