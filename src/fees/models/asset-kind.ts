/** The network's own coin, or the kind of token. */
export type AssetKind = 'native' | 'erc20' | 'spl' | 'token2022' | 'trustline'
