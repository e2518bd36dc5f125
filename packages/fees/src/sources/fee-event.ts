import type { CryptoNetwork } from '@bursar/base'

/** A log event, reported once when it begins. It holds no URL and no text of a node. */
export type FeeEvent =
  | NetworkEvent<'node-failed', { readonly host: string; readonly reason: string }>
  | NetworkEvent<'node-recovered', { readonly host: string }>
  /** A figure was reduced to its cap, so the network may cost more than is charged. */
  | NetworkEvent<'figure-cut', { readonly host: string; readonly alarm: string }>
  /** Costs more than four times off wait for a second observation. */
  | NetworkEvent<'figure-held', { readonly host: string }>
  | NetworkEvent<'source-changed', { readonly from: CostSource; readonly to: CostSource }>
  | { readonly event: 'price-source-failed'; readonly source: string; readonly reason: string }
  | { readonly event: 'price-source-recovered'; readonly source: string }
  | { readonly event: 'price-held'; readonly source: string; readonly symbol: string }

type NetworkEvent<Name extends string, Details> = {
  readonly event: Name
  readonly network: CryptoNetwork
} & Details

export type CostSource = 'live' | 'schedule' | 'unavailable'

/** What everything that observes nodes and prices depends on. */
export type FeeSourceDeps = {
  /** Microseconds since 1970. */
  readonly clock: () => bigint
  /** From 0 up to 1. Spreads the requests of many processes over time. */
  readonly random: () => number
  readonly report: (event: FeeEvent) => void
}
