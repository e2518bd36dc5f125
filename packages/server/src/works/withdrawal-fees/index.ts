export { announceConsumed } from './announce-consumed.ts'
export { describeQuote, findQuote } from './describe-quote.ts'
export { consumeProblem } from './fee-problems.ts'
