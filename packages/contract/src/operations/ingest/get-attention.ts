import { Type } from 'typebox'
import { described, text } from '../../fields.ts'
import { contractLimits } from '../../limits.ts'
import { about, component, timestampMember } from '../../members.ts'
import { operation } from '../../operation.ts'

const count = Type.Integer({ minimum: 0 })
const more = about('Whether there are more, so that the figures are “at least”.', Type.Boolean())
const owner = about('Whose.', Type.String())

const amounts = {
  owed: about('What was owed, an exact decimal.', Type.String()),
  paid: about('What was paid.', Type.String()),
  shortfall: about('What was owed and not paid.', Type.String()),
  statements: about('How many statements.', count),
} as const

const shortfall = component(
  'AssetShortfall',
  'What was paid too little in one asset.',
  Type.Object({
    asset: about('The asset’s code.', Type.String()),
    ...amounts,
    customers: about('How many customers have such a statement.', count),
    oldest_period_end: Type.Optional(
      about('When the oldest of the periods ended.', timestampMember),
    ),
    more,
    by_customer: about(
      'The customers with the largest shortfalls, largest first.',
      Type.Array(
        Type.Object({
          customer_id: owner,
          shortfall: amounts.shortfall,
          statements: amounts.statements,
        }),
        { maxItems: contractLimits.attentionCustomersMax },
      ),
    ),
    by_period: about(
      'The newest periods, newest first.',
      Type.Array(
        Type.Object({
          period_start: about('When the period began.', timestampMember),
          ...amounts,
        }),
        { maxItems: contractLimits.attentionPeriodsMax },
      ),
    ),
  }),
)

const counted = component(
  'CountedRecords',
  'How many records a person should look at.',
  Type.Object({
    count: about('How many.', count),
    more,
    since: Type.Optional(about('From when they are counted.', timestampMember)),
    oldest: Type.Optional(about('When the oldest of them was created.', timestampMember)),
    newest: Type.Optional(about('When the newest of them was created.', timestampMember)),
    customers: about(
      'The customers with the most of them, most first.',
      Type.Array(Type.Object({ customer_id: owner, count: about('How many.', count) }), {
        maxItems: contractLimits.attentionCustomersMax,
      }),
    ),
  }),
)

/** The start screen of the operator's staff. */
export const getAttention = operation({
  id: 'getAttention',
  title: 'Read what needs attention',
  summary:
    'Returns the shortfalls of statements by asset, and counts of records that a person should look at, of all customers or of one. A client that is bound to a customer gets the figures of its customer. Each figure is exact over up to 10,000 records; beyond, `more` is true.',
  tag: 'Search',
  method: 'GET',
  path: '/ingest/v1/attention',
  scope: 'ingest:search',
  query: { customer_id: described(text, 'Whose figures; those of all customers by default.') },
  view: {
    name: 'Attention',
    schema: Type.Object(
      {
        shortfalls: about(
          'The shortfalls, by asset.',
          Type.Array(shortfall, { maxItems: contractLimits.startsMax }),
        ),
        failed_quotes: about('FAILED quotes of the last 24 hours.', counted),
        pending_quotes: about('PENDING quotes that are older than an hour.', counted),
        pending_accounts: about('PENDING fiat accounts.', counted),
        rejected_accounts: about('REJECTED fiat accounts.', counted),
        deprecated_instructions: about(
          'Instructions that are DEPRECATED, whose last version was stored in the last 7 days.',
          counted,
        ),
      },
      { description: 'What a person should look at.' },
    ),
  },
})
