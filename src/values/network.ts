/** The networks of the contract, section 2.10, in its order. */
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

/** Exact members only: neither another case nor a blank around it names a network. */
export const isCryptoNetwork = (value: unknown): value is CryptoNetwork =>
  cryptoNetworks.some((network) => network === value)
