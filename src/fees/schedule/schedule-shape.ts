import Type, { type TProperties } from 'typebox'

/** A whole number of smallest units: a JSON integer, or digits in a string where it may pass 2^53. */
const units = Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,30}$' })])
const count = Type.Integer({ minimum: 1, maximum: 1_000_000 })
const seconds = (maximum: number) => Type.Integer({ minimum: 1, maximum })
const basisPoints = Type.Integer({ minimum: 0, maximum: 100_000 })
const decimalText = Type.String({ pattern: '^[0-9]*\\.?[0-9]+$', maxLength: 64 })
const symbolPattern = '^[A-Z0-9]{2,12}$'
const symbol = Type.String({ pattern: symbolPattern })
const date = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })
const variable = Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,99}$' })
/** No user and password in a URL: it is logged and shown, and `auth_env` is the place for them. */
const url = Type.String({ pattern: '^https?://[^@\\s]+$', maxLength: 2_000 })
const evmAddress = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const strict = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

const endpoint = strict({ url, auth_env: Type.Optional(variable) })

const everyNetwork = {
  native: symbol,
  margin_bp: basisPoints,
  refresh_s: seconds(3_600),
  max_age_s: seconds(86_400),
  max_head_age_s: seconds(86_400),
  on_stale: Type.Union([Type.Literal('schedule'), Type.Literal('fail')]),
  rpc: Type.Array(endpoint, { maxItems: 8 }),
}

const outputKinds = [
  'p2pkh',
  'p2sh',
  'p2wpkh',
  'p2wsh',
  'p2tr',
  'p2sh32',
  'p2pkh-token-aware',
  'p2sh-token-aware',
  'p2sh32-token-aware',
] as const

const utxo = strict({
  ...everyNetwork,
  rate_per_kvb: units,
  floor_per_kvb: units,
  cap_per_kvb: units,
  inputs: count,
  input_vb: count,
  overhead_vb: count,
  change_vb: count,
  confirmation_target: Type.Integer({ minimum: 2, maximum: 1_008 }),
  chain: Type.String({ minLength: 1, maxLength: 20 }),
  known_block: Type.Optional(
    strict({
      height: Type.Integer({ minimum: 0 }),
      hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
  dust: Type.Partial(Type.Record(Type.Enum(outputKinds), units)),
})

const gasUnits = strict({ native: count, erc20: count })

const everyEvm = {
  ...everyNetwork,
  chain_id: Type.Integer({ minimum: 1 }),
  gas_price_wei: units,
  floor_gas_price_wei: units,
  cap_gas_price_wei: units,
  gas: gasUnits,
}

const evm = strict({ ...everyEvm, min_tip_wei: units })
const opStack = strict({
  ...everyEvm,
  min_tip_wei: units,
  l1_fee_wei: units,
  cap_l1_fee_wei: units,
})
const arbitrum = strict({ ...everyEvm, l2_gas: gasUnits })

const solana = strict({
  ...everyNetwork,
  genesis_hash: Type.String({ minLength: 32, maxLength: 44 }),
  priority_accounts: Type.Array(Type.String({ minLength: 32, maxLength: 44 }), { maxItems: 128 }),
  lamports_per_signature: units,
  signatures: count,
  cu: strict({ native: count, spl: count, token2022: count }),
  cu_price_ulamports: units,
  floor_cu_price_ulamports: units,
  cap_cu_price_ulamports: units,
  ata_bytes: strict({ spl: count, token2022: count }),
  lamports_per_byte: units,
  ata_charge: Type.String({ pattern: '^(always|never|0|0?\\.[0-9]{1,6}|1)$' }),
  new_account_min_lamports: units,
})

const stellar = strict({
  ...everyNetwork,
  network_passphrase: Type.String({ minLength: 1, maxLength: 200 }),
  stroops_per_op: units,
  floor_stroops: units,
  cap_stroops: units,
  ops: count,
  base_reserve_stroops: units,
})

const asset = strict({
  kind: Type.Union(
    (['native', 'erc20', 'spl', 'token2022', 'trustline'] as const).map((kind) =>
      Type.Literal(kind),
    ),
  ),
  decimals: Type.Integer({ minimum: 0, maximum: 30 }),
  contract: Type.Optional(evmAddress),
  mint: Type.Optional(Type.String({ minLength: 32, maxLength: 44 })),
  issuer: Type.Optional(Type.String({ minLength: 56, maxLength: 56 })),
  certainty: Type.Optional(Type.Union([Type.Literal('A'), Type.Literal('B'), Type.Literal('C')])),
  enabled: Type.Optional(Type.Boolean()),
  fee_increment: decimalText,
  min_fee: decimalText,
  min_amount: Type.Optional(decimalText),
  token_transfer_ppm: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
})

const chainlink = strict({
  kind: Type.Literal('chainlink'),
  network: Type.String({ pattern: '^[A-Z_]{3,20}$' }),
  max_age_s: seconds(86_400 * 2),
  feeds: Type.Record(Type.String(), evmAddress),
})

const httpPrices = strict({
  kind: Type.Literal('http'),
  url,
  auth_env: Type.Optional(variable),
  max_age_s: seconds(86_400),
  price_pointer: Type.String({ pattern: '^(/[^/]*)+$' }),
  time_pointer: Type.Optional(Type.String({ pattern: '^(/[^/]*)+$' })),
  symbols: Type.Record(Type.String(), Type.String({ pattern: '^[A-Za-z0-9._:-]{1,40}$' })),
})

/**
 * The whole document, as it is embedded and as it stands after an operator's overrides were merged over it.
 * Strict everywhere: a misspelt key is a fault, never a setting that silently does nothing.
 */
export const scheduleShape = strict({
  as_of: date,
  prices_as_of: date,
  note: Type.Optional(Type.String()),
  schedule_max_age_days: Type.Integer({ minimum: 1, maximum: 3_650 }),
  prices_max_age_days: Type.Integer({ minimum: 1, maximum: 3_650 }),
  quote: strict({
    ttl_s: Type.Integer({ minimum: 60, maximum: 900 }),
    fx_margin_bp: basisPoints,
  }),
  pegged_usd: Type.Array(symbol, { maxItems: 100 }),
  prices_usd: Type.Record(Type.String(), decimalText),
  price_sources: Type.Array(Type.Union([chainlink, httpPrices]), { maxItems: 8 }),
  networks: strict({
    BITCOIN: utxo,
    LITECOIN: utxo,
    BITCOIN_CASH: utxo,
    ETHEREUM: evm,
    POLYGON_POS: evm,
    BASE: opStack,
    INK: opStack,
    XLAYER: opStack,
    ARBITRUM_ONE: arbitrum,
    SOLANA: solana,
    STELLAR: stellar,
  }),
  assets: Type.Record(Type.String(), Type.Record(Type.String(), asset)),
})

export type ScheduleDocument = Type.Static<typeof scheduleShape>
export type NetworkDocuments = ScheduleDocument['networks']
export type UtxoDocument = Type.Static<typeof utxo>
export type EvmDocument = Type.Static<typeof evm>
export type OpStackDocument = Type.Static<typeof opStack>
export type ArbitrumDocument = Type.Static<typeof arbitrum>
export type SolanaDocument = Type.Static<typeof solana>
export type StellarDocument = Type.Static<typeof stellar>
export type AssetDocument = Type.Static<typeof asset>
export type Units = Type.Static<typeof units>
