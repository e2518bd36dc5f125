/** The same for the native coin and for assets on trustlines. */
export type StellarRates = {
  readonly family: 'stellar'
  readonly stroopsPerOperation: bigint
  readonly operations: bigint
}

/**
 * The bid for one transaction in stroops (1e-7 XLM). The ledger charges less when it is not full.
 */
export const stellarCost = (rates: StellarRates): bigint =>
  rates.stroopsPerOperation * rates.operations
