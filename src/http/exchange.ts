import type { IncomingHttpHeaders } from 'node:http'
import type { FeeOrigin } from '../fees/network-fee.ts'

/** A request as the walk sees it, free of the web framework. */
export type Request = {
  readonly method: string
  readonly path: string
  /** What follows the question mark, undecoded. */
  readonly rawQuery: string
  readonly parameters: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, repeated ones too. */
  readonly rawHeaders: readonly string[]
  readonly body: Uint8Array
  readonly address: string
  readonly id: string
  readonly trace: Trace
}

/** What is learnt of a request along its walk, for its one log line and for the headers of whatever answers it. */
export type Trace = {
  /** `RateLimit-*`, where requests are limited. */
  limitHeaders?: Readonly<Record<string, string>>
  operation?: string
  client?: string
  rows?: number
  problem?: string
  /** Where a quoted fee came from: for the operator's log, never for the answer. */
  fee?: FeeOrigin & { readonly asset: string; readonly network: string }
  /** The cause of a 500 or 503, for the log alone. */
  cause?: unknown
}

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /**
   * Text leaves in one write with its headers, which is cheaper; a page is bytes, for encoding one would take longer than
   * reading it. A 304 has none, not even one of no length.
   */
  readonly body: Uint8Array | string | undefined
  /** Called when the system has taken every byte of the body, which until then stays as it is. */
  readonly sent?: () => void
}
