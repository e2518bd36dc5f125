import { uuid } from '../../contract/fields.ts'
import type { IngestOperation } from '../../contract/operation.ts'
import { echo, Problem } from '../../contract/problem.ts'
import { type Answer, jsonAnswer, type Request } from '../../contract/request.ts'
import type { Clock } from '../../platform/clock.ts'
import type { FeeQuoteStore } from '../../store/fee-quotes.ts'
import { describeQuote } from '../../withdrawal-fees/describe-quote.ts'
import { consumeProblem } from '../../withdrawal-fees/fee-problems.ts'
import { authenticate, type IdentifyToken, requireScope } from './authenticate.ts'
import { readBody } from './read-body.ts'

export type ConsumeDependencies = {
  readonly identify: IdentifyToken
  readonly quotes: FeeQuoteStore
  readonly clock: Clock
}

/** The walk of an ingest operation: the same order of checks as a customer's, for a caller who is no customer. */
export async function handleConsume(
  operation: IngestOperation,
  request: Request,
  dependencies: ConsumeDependencies,
): Promise<Answer> {
  const caller = await authenticate(request, dependencies.identify)
  requireScope(caller, operation.scope)
  const id = readId(request.parameters.id ?? '')
  const input = readBody(operation.body, request.body)
  const member = (name: string) => input.get(name) ?? ''
  const consumed = await dependencies.quotes.operator.consume({
    id,
    customerId: member('customer_id'),
    asset: member('asset'),
    network: member('crypto_network'),
    address: member('destination_address'),
    amount: member('amount'),
    withdrawal: member('withdrawal'),
    at: dependencies.clock(),
  })
  if (consumed.outcome !== 'consumed') throw consumeProblem(consumed, id)
  request.trace.rows = 1
  return jsonAnswer(describeQuote(consumed.quote), { 'cache-control': 'no-store' })
}

function readId(given: string): string {
  const reading = uuid.read(given)
  if ('reason' in reading) throw new Problem(400, `id must be uuid, given '${echo(given)}'`)
  return reading.value
}
