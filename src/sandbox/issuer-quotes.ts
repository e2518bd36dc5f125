import type { RecordInput } from '../contract/resource.ts'
import { issuerQuoteStatuses } from '../resources/issuer-quote-execution.ts'
import { cycle, drawNumber, drawUuid } from './seeded.ts'
import { createdAt, fixtureIds, profileId, refId } from './story.ts'

/** Mints, and redemptions with a negative token_principal. Amounts take every valid form. */
export function issuerQuotes(customer: string, count: number): RecordInput[] {
  return Array.from({ length: count }, (_, at) => {
    const isFirst = customer === 'acme' && at === 0
    const name = `${customer} issuer quote ${at}`
    const principal = cycle(
      [
        `${drawNumber(name, 1_000_000)}.50`,
        `${drawNumber(name, 1000)}`,
        '.5',
        '00.5',
        '123456789.123456789012345678',
      ],
      at,
    )
    return {
      id: isFirst ? fixtureIds['issuer-quote-executions'] : drawUuid(name),
      customer_id: customer,
      profile_id: profileId(customer, at),
      asset_type: cycle(['USDG', 'PYUSD', 'USDP', 'PAXG'], at),
      status: cycle(issuerQuoteStatuses, at),
      principal,
      fee: cycle(['0', '0.25', '1.000000'], at),
      token_principal: at % 4 === 3 ? `-${principal}` : principal,
      token_fee: '0',
      token_price: cycle(['1', '1.00', '0.9998'], at),
      created_at: createdAt(at),
      ...(at % 3 !== 2 && { ref_id: refId(customer, 'quote', at) }),
    }
  })
}
