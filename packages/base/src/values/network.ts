/** The contract's networks (section 2.10) in its order. */
export const cryptoNetworks = [
  'BITCOIN',
  'ETHEREUM',
  'BITCOIN_CASH',
  'LITECOIN',
  'SOLANA',
  'POLYGON_POS',
  'BASE',
  'ARBITRUM_ONE',
  'STELLAR',
  'INK',
  'XLAYER',
] as const

export type CryptoNetwork = (typeof cryptoNetworks)[number]

/** Accepts exact names only, without trimming or a change of case. */
export const isCryptoNetwork = (value: unknown): value is CryptoNetwork =>
  cryptoNetworks.some((network) => network === value)
