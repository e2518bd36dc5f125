export type { AddressPolicy } from './addresses/address-check.ts'
export { addressPolicy } from './addresses/address-policy.ts'
export { canonicalAddress, haveSameAddresses } from './addresses/canonical-address.ts'
export { checkAddress } from './addresses/check-address.ts'
export { checkDestination } from './check-destination.ts'
export {
  causesWithoutFee,
  describeNetworks,
  describeSchedule,
  type OfferedPair,
  offeredPairs,
  type ScheduleRow,
} from './describe-schedule.ts'
export { ageOf, causeInWords, type FeeBasis, type Unavailable } from './fee-basis.ts'
export { traitsOf } from './networks.ts'
export { type QuoteRefusal, type QuoteRequest, quoteFee } from './quote-fee.ts'
export type { Dated, FeeSchedule } from './schedule/read-schedule.ts'
export { arePricesMissing, observedFees, silentNetworks } from './sources/observed-fees.ts'
export { type Fees, type FeesDeps, openFees, readScheduleFile } from './sources/open-fees.ts'
