import type { Attention, Matter } from '../../api/read-attention.ts'
import { linkTo, placeOf, useRoute } from '../../router.ts'
import { grouped } from '../../values/amounts.ts'
import { Icon } from '../../values/icon.tsx'
import { wordOf } from '../../values/labels.ts'
import { ageText, durationText } from '../../values/times.ts'
import { counted, countText } from '../attention.tsx'
import { failedQuery, shortfallQuery } from '../list-queries.ts'
import { type HealthAnswer, staleNetworks, warningsOf } from '../service-health.ts'

export type Item = {
  readonly key: string
  readonly tone: 'bad' | 'wait'
  readonly say: string
  readonly why: string
  readonly much: string
  readonly unit: string
  readonly to: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

/** What a person should look at today, the most urgent first. Assets are never added. */
export function mattersOf(
  attention: Attention,
  health: HealthAnswer | undefined,
  nameOf: (id: string) => string,
): readonly Item[] {
  const now = new Date()
  const byCount = attention.shortfalls.toSorted((one, other) => other.statements - one.statements)
  const short = byCount.map((sum): Item => {
    const { asset, statements, more, customers, oldest_period_end: oldest, shortfall } = sum
    return {
      key: `short ${asset}`,
      tone: 'bad',
      say: `${countText({ count: statements, more })} ${statements === 1 ? 'statement was' : 'statements were'} paid too little`,
      why: `${counted(customers, 'customer')}; the oldest period ended ${ageText(oldest, now)}`,
      much: `${more ? 'at least ' : ''}${grouped(shortfall)}`,
      unit: `${asset} short`,
      to: ['list', 'statements'],
      query: shortfallQuery(asset),
    }
  })
  const matter = (
    key: keyof Attention & `${string}_${'quotes' | 'accounts' | 'instructions'}`,
    words: readonly [one: string, many: string],
    rest: Pick<Item, 'tone' | 'to' | 'query'> & { readonly hint?: string },
  ): readonly Item[] => {
    const own: Matter = attention[key]
    if (own.count === 0) return []
    const { hint, ...place } = rest
    const who = own.customers
      .slice(0, 3)
      .map(({ customer_id: id, count }) => `${nameOf(id)} ${count}`)
    return [
      {
        ...place,
        key,
        say: `${countText(own)} ${own.count === 1 ? words[0] : words[1]}`,
        why: [...(hint === undefined ? [] : [hint]), who.join(', ')].join(': '),
        much: own.oldest === undefined ? '' : durationText(now.getTime() - Date.parse(own.oldest)),
        unit: 'oldest',
      },
    ]
  }
  return [
    ...warningsOf(health)
      .filter(({ tone }) => tone === 'bad')
      .map((warning) => ({ ...warning, to: ['health'], query: {} })),
    ...short,
    ...matter(
      'failed_quotes',
      ['issuer quote failed since yesterday', 'issuer quotes failed since yesterday'],
      {
        tone: 'bad',
        to: ['list', 'issuer-quote-executions'],
        query: failedQuery(attention.failed_quotes.since),
      },
    ),
    ...matter(
      'pending_accounts',
      ['fiat account waits for approval', 'fiat accounts wait for approval'],
      {
        tone: 'wait',
        to: ['list', 'fiat-accounts'],
        query: { status: 'PENDING', order: 'ASC' },
      },
    ),
    ...matter(
      'pending_quotes',
      ['quote is pending for more than an hour', 'quotes are pending for more than an hour'],
      {
        tone: 'wait',
        to: ['list', 'issuer-quote-executions'],
        query: { status: 'PENDING', order: 'ASC' },
      },
    ),
    ...matter('rejected_accounts', ['fiat account was rejected', 'fiat accounts were rejected'], {
      tone: 'wait',
      to: ['list', 'fiat-accounts'],
      query: { status: 'REJECTED' },
    }),
    ...matter(
      'deprecated_instructions',
      [
        'set of deposit instructions was replaced this week',
        'sets of deposit instructions were replaced this week',
      ],
      {
        tone: 'wait',
        to: ['list', 'fiat-deposit-instructions'],
        query: { status: 'DEPRECATED' },
        hint: 'Senders may still use the old memo',
      },
    ),
    ...warningsOf(health)
      .filter(({ tone }) => tone === 'wait')
      .map((warning) => ({ ...warning, to: ['health'], query: {} })),
    ...staleNetworks(health).map(({ network, age }) => ({
      key: `stale ${network}`,
      tone: 'wait' as const,
      say: `Fee prices of ${wordOf(network)} are ${durationText(age * 1000)} old`,
      why: 'Fees come from the last price until the node answers',
      much: '1',
      unit: 'network',
      to: ['health'],
      query: {},
    })),
  ]
}

export function Todo({ matters }: { readonly matters: readonly Item[] }) {
  const { query } = useRoute()
  return (
    <ul className="todo">
      {matters.map(({ key, tone, say, why, much, unit, to, query: own }) => (
        <li key={key}>
          <Icon name={tone} className={tone} />
          <div>
            <p className="say">{say}</p>
            <p className="why" title={why}>
              {why}
            </p>
          </div>
          <p className="much">
            {much}
            <small>{unit}</small>
          </p>
          <a
            className="go"
            data-row=""
            aria-label={`Review: ${say}, ${unit}`}
            href={linkTo(to, [...Object.entries(own), ...placeOf(query)])}
          >
            Review
          </a>
        </li>
      ))}
    </ul>
  )
}
