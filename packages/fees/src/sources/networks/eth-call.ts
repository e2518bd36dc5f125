import type { RpcCall, RpcReply } from '../nodes/node-client.ts'
import { returnedWords } from './node-figures.ts'

/** Reads a contract at the newest block. `data` is the selector and the arguments in hex. */
export const ethCall = (to: string, data: string): RpcCall => ({
  method: 'eth_call',
  params: [{ to, data: `0x${data}` }, 'latest'],
})

/** One 32-byte argument. */
export const word = (units: bigint): string => units.toString(16).padStart(64, '0')

/** Encodes bytes as an ABI argument: their length and the bytes, padded to whole words. */
export function bytesArgument(hex: string): string {
  const paddedDigits = Math.ceil(hex.length / 64) * 64
  return word(BigInt(hex.length / 2)) + hex.padEnd(paddedDigits, '0')
}

/**
 * The first of `count` words that a contract returned. Undefined for an account without code, which
 * answers `0x`, and for a missing method, which reverts. Throws if the answer is too short.
 */
export function firstWord(reply: RpcReply | undefined, count = 1): bigint | undefined {
  if (reply === undefined || !reply.ok || reply.result === '0x') return undefined
  return returnedWords(reply.result, count)[0]
}
