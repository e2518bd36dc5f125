/** How an asset lives on its network: the network's own coin, or which kind of token. */
export type AssetKind = 'native' | 'erc20' | 'spl' | 'token2022' | 'trustline'
