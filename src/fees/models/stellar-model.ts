/** The same for the native coin and for assets on trustlines. */
export type StellarRates = {
  readonly family: 'stellar'
  readonly stroopsPerOperation: bigint
  readonly operations: bigint
}

/** The bid for one transaction in stroops. A ledger that is not full charges less. */
export const stellarCost = (rates: StellarRates): bigint =>
  rates.stroopsPerOperation * rates.operations
