import type { CryptoNetwork } from '../../values/network.ts'
import schedule from '../schedule/fee-schedule.json' with { type: 'json' }

type TokenPlace = { readonly kind: string; readonly contract?: string; readonly mint?: string }
type AssetsByNetwork = Readonly<Record<string, Readonly<Record<string, TokenPlace>>>>

const assets: AssetsByNetwork = schedule.assets

/**
 * The contracts and mints of the embedded schedule by network, EVM ones in lower case. Funds sent
 * to a token's own contract are lost, and block explorers show it first, so people paste it by
 * mistake.
 */
const knownTokens: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(assets).map(([network, tokens]) => [
    network,
    new Set(Object.values(tokens).flatMap(tokenAddresses)),
  ]),
)

export const isKnownToken = (network: CryptoNetwork, address: string): boolean =>
  knownTokens.get(network)?.has(address) ?? false

function tokenAddresses({ contract, mint }: TokenPlace): string[] {
  if (contract !== undefined) return [contract.toLowerCase()]
  return mint === undefined ? [] : [mint]
}
