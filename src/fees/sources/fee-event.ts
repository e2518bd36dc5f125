import type { CryptoNetwork } from '../../values/network.ts'

/**
 * What is worth a line in the log, each told once when it begins and not on every look. No event holds a URL,
 * an authorization or a word that a node sent.
 */
export type FeeEvent =
  | {
      readonly event: 'node-failed'
      readonly network: CryptoNetwork
      readonly host: string
      readonly reason: string
    }
  | { readonly event: 'node-recovered'; readonly network: CryptoNetwork; readonly host: string }
  /** A figure above its cap was cut to it: look, the network may cost more than is charged. */
  | {
      readonly event: 'figure-cut'
      readonly network: CryptoNetwork
      readonly host: string
      readonly alarm: string
    }
  /** A figure more than four times off waits for a second look. */
  | { readonly event: 'figure-held'; readonly network: CryptoNetwork; readonly host: string }
  | {
      readonly event: 'source-changed'
      readonly network: CryptoNetwork
      readonly from: CostSource
      readonly to: CostSource
    }
  | { readonly event: 'price-source-failed'; readonly source: string; readonly reason: string }
  | { readonly event: 'price-source-recovered'; readonly source: string }
  | { readonly event: 'price-held'; readonly source: string; readonly symbol: string }

export type CostSource = 'live' | 'schedule' | 'unavailable'

/** The outside world of everything that looks at nodes. */
export type LookingGlass = {
  /** Microseconds since 1970. */
  readonly clock: () => bigint
  /** From 0 up to 1; spreads what many processes would otherwise ask at once. */
  readonly random: () => number
  readonly report: (event: FeeEvent) => void
}
