import { HOUR_MICROS, printDecimal, printInstant } from '@bursar/base'
import type { RecordInput } from '@bursar/contract'
import { type Life, lifeOf } from './lives.ts'
import { cycle, drawNumber } from './seeded.ts'
import type { Story } from './story.ts'

/** Mints, and redemptions with a negative token_principal. Some wait, some fail. */
export function issuerQuotes(story: Story, count: number, hours = 7): Life[] {
  return Array.from({ length: count }, (_, at) => {
    const createdAt = story.createdAt(at, hours)
    const doneAt = createdAt + cycle([1n, 3n, 2n, 5n], at) * (HOUR_MICROS / 2n)
    const quote = {
      id: story.idOf('issuer-quote-executions', at),
      customer_id: story.customer,
      profile_id: story.profileId(at),
      status: 'PENDING',
      ...amountsOf(story, at),
      token_fee: '0',
      created_at: printInstant(createdAt),
      ...(at % 3 !== 2 && { ref_id: story.refId('quote', at) }),
    }
    const created = { happenedAt: createdAt, record: () => quote }
    if (doneAt > story.end || story.troubles.waiting.includes(at)) return lifeOf(story, [created])
    const status = fails(story, at) ? 'FAILED' : 'COMPLETE'
    return lifeOf(story, [created, { happenedAt: doneAt, record: () => ({ ...quote, status }) }])
  })
}

/** Beside those of this week, one in forty. */
const fails = ({ troubles, salt }: Story, at: number): boolean =>
  troubles.failed.includes(at) || (at > 9 && (at + salt) % 40 === 7)

function amountsOf(story: Story, at: number): RecordInput {
  const name = `${story.customer} issuer quote ${at}`
  const asset_type = cycle(['USDG', 'PYUSD', 'USDG', 'USDP', 'PAXG', 'USDG'], at)
  const fee = cycle(['0', '0', '12.50', '0', '25.000000'], at)
  const isRedemption = at % 4 === 3
  const signed = (tokens: string) => (isRedemption ? `-${tokens}` : tokens)
  if (asset_type === 'PAXG') {
    const [ounces, cents] = [BigInt(1 + drawNumber(name, 40)), BigInt(398_000 + (at % 97) * 113)]
    return {
      asset_type,
      principal: printDecimal(ounces * cents, 2),
      fee,
      token_principal: signed(String(ounces)),
      token_price: printDecimal(cents, 2),
    }
  }
  const principal = principalOf(name, at)
  return {
    asset_type,
    principal,
    fee,
    token_principal: signed(principal),
    token_price: at % 9 === 8 ? '1.00' : '1',
  }
}

/** Round sums, and in every hundred the forms that are legal beside those. */
function principalOf(name: string, at: number): string {
  const forms: Readonly<Record<number, string>> = {
    85: '.5',
    86: '00.5',
    89: '123456789.123456789012345678',
  }
  const form = forms[at % 100]
  if (form !== undefined) return form
  const thousands = cycle([250, 100, 25, 500, 50, 1000, 75, 10, 150, 40], drawNumber(name, 10))
  return at === 0
    ? '250000'
    : cycle([`${thousands}000`, `${thousands}500.75`], Number(at % 7 === 6))
}
