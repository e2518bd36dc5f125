import { type BoundedRequest, fetchBounded } from '@bursar/base'
import type { Endpoint } from '../../schedule/schedule-members.ts'
import { at, type ExactJson, parseExactJson } from './exact-json.ts'

/** The largest expected answer, an eth_feeHistory of 20 blocks, is 3 KB. */
const answerBytesMax = 256 * 1024

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }
export type RpcReply =
  | { readonly ok: true; readonly result: ExactJson }
  | { readonly ok: false; readonly code: string }

/** A client of one endpoint. Calls reject with an Error that quotes neither answer nor URL. */
export type NodeClient = {
  /** Host and port, for logs. The path of a hosted node is often its API key. */
  readonly host: string
  /** Sends one JSON-RPC batch and returns the replies in the order of the calls. */
  readonly batch: (calls: readonly RpcCall[], signal: AbortSignal) => Promise<readonly RpcReply[]>
  readonly get: (path: string, signal: AbortSignal) => Promise<ExactJson>
  /** Replaces `{symbol}` in the endpoint's URL. */
  readonly getForSymbol: (symbol: string, signal: AbortSignal) => Promise<ExactJson>
}

export function nodeClient(endpoint: Endpoint): NodeClient {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (endpoint.authorization) headers.authorization = endpoint.authorization.reveal()
  return {
    host: new URL(endpoint.url).host,
    get: (path, signal) => fetchJson(endpoint.url + path, { headers, signal }),
    getForSymbol: (symbol, signal) =>
      fetchJson(endpoint.url.replaceAll('{symbol}', symbol), { headers, signal }),
    batch: async (calls, signal) => {
      const requests = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
      const request = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(requests),
        signal,
      }
      return orderReplies(await fetchJson(endpoint.url, request), calls.length)
    },
  }
}

/** The result of one call of a batch. Throws if the node sent an error or no reply. */
export function resultOf(reply: RpcReply | undefined, method: string): ExactJson {
  if (reply === undefined || !reply.ok) {
    throw new Error(`${method} failed${reply === undefined ? '' : ` with ${reply.code}`}`)
  }
  return reply.result
}

async function fetchJson(
  url: string,
  request: Omit<BoundedRequest, 'answerBytesMax'>,
): Promise<ExactJson> {
  const text = await fetchBounded(url, { ...request, answerBytesMax })
  try {
    return parseExactJson(text)
  } catch {
    // The parser's own message quotes the answer, so it is not passed on as the cause.
    throw new Error('answered with invalid JSON')
  }
}

/** Nodes may reorder replies. A node without batch support answers with a single object. */
function orderReplies(answer: ExactJson, count: number): RpcReply[] {
  if (!Array.isArray(answer)) throw new Error('did not answer a batch with a list')
  const replies = new Map<string, RpcReply>()
  for (const item of answer) {
    const id = at(item, 'id')
    if (typeof id === 'string') replies.set(id, readReply(item))
  }
  const missing: RpcReply = { ok: false, code: 'no answer' }
  return Array.from({ length: count }, (_, id) => replies.get(String(id)) ?? missing)
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
