import type { Endpoint } from '../../schedule/fee-schedule.ts'
import { at, type ExactJson, parseExactJson } from './exact-json.ts'

/** The largest answer asked for, an eth_feeHistory of 20 blocks, is 3 KB. */
const answerBytesMax = 256 * 1024

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }
export type RpcReply =
  | { readonly ok: true; readonly result: ExactJson }
  | { readonly ok: false; readonly code: string }

/** One endpoint of a network. Both calls reject with an Error whose message holds nothing of the answer. */
export type NodeClient = {
  /** Host and port, for logs; the path of a hosted node's URL is often its key. */
  readonly host: string
  /** One JSON-RPC batch; the replies in the order of the calls. */
  readonly batch: (calls: readonly RpcCall[], signal: AbortSignal) => Promise<readonly RpcReply[]>
  readonly get: (path: string, signal: AbortSignal) => Promise<ExactJson>
  /** The answer at the URL with this word in the place of `{symbol}`. */
  readonly getFor: (word: string, signal: AbortSignal) => Promise<ExactJson>
}

export function nodeClient(endpoint: Endpoint): NodeClient {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (endpoint.authorization !== undefined) {
    headers.authorization = endpoint.authorization.reveal()
  }
  return {
    host: new URL(endpoint.url).host,
    get: (path, signal) => fetchJson(endpoint.url + path, { headers }, signal),
    getFor: (word, signal) =>
      fetchJson(endpoint.url.replaceAll('{symbol}', word), { headers }, signal),
    batch: async (calls, signal) => {
      const requests = calls.map(({ method, params }, id) => ({
        jsonrpc: '2.0',
        id,
        method,
        params,
      }))
      const init = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(requests),
      }
      return orderReplies(await fetchJson(endpoint.url, init, signal), calls.length)
    },
  }
}

/** The result of one call of a batch; throws where the node answered it with an error or not at all. */
export function resultOf(reply: RpcReply | undefined, method: string): ExactJson {
  if (reply === undefined || !reply.ok) {
    throw new Error(`${method} failed${reply === undefined ? '' : ` with ${reply.code}`}`)
  }
  return reply.result
}

async function fetchJson(url: string, init: RequestInit, signal: AbortSignal): Promise<ExactJson> {
  const broken = (reason: string) => (cause: unknown) => {
    throw new Error(signal.aborted ? 'no answer in time' : reason, { cause })
  }
  // A redirect could carry the authorization to a place that nobody configured.
  const request = fetch(url, { ...init, signal, redirect: 'error' })
  const response = await request.catch(broken('cannot be reached'))
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`answered HTTP ${response.status}`)
  }
  const bytes = await readCapped(response).catch(broken('broke off its answer'))
  if (bytes === undefined) throw new Error(`answered more than ${answerBytesMax} bytes`)
  try {
    return parseExactJson(bytes.toString('utf8'))
  } catch (cause) {
    throw new Error('answered what is no JSON', { cause })
  }
}

async function readCapped(response: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > answerBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A batch may be answered in any order; a node that takes no batches answers with one object. */
function orderReplies(answer: ExactJson, count: number): RpcReply[] {
  if (!Array.isArray(answer)) throw new Error('did not answer a batch as a batch')
  const replies = new Map<string, RpcReply>()
  for (const item of answer) {
    const id = at(item, 'id')
    if (typeof id === 'string') replies.set(id, readReply(item))
  }
  return Array.from({ length: count }, (_, id) => {
    return replies.get(String(id)) ?? { ok: false, code: 'no answer' }
  })
}

function readReply(item: ExactJson): RpcReply {
  const error = at(item, 'error') ?? null
  const result = at(item, 'result')
  if (error === null) {
    return result === undefined ? { ok: false, code: 'no result' } : { ok: true, result }
  }
  const code = at(error, 'code')
  const isCode = typeof code === 'string' && /^-?\d{1,6}$/.test(code)
  return { ok: false, code: isCode ? code : 'an error' }
}
