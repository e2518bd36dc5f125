import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { described, enumOf, flag, instant, numberOf, text } from '../../fields.ts'
import { contractLimits } from '../../limits.ts'
import { about, asComponent } from '../../members.ts'
import { type Operation, operation } from '../../operation.ts'
import { nextPageCursor, pageCursor } from '../../paging.ts'
import type { Resource } from '../../resource.ts'
import { resources } from '../../resources/catalogue.ts'
import { lists } from '../index.ts'
import { purpose } from './record-histories.ts'
import { pluralOf } from './stored-records.ts'

/** `fiat-accounts` → `listAllFiatAccounts`. */
export const listOfAll = ({ kind }: Pick<Resource, 'kind'>): string =>
  `listAll${kind.replace(/(^|-)([a-z])/g, (_match, _hyphen, letter) => letter.toUpperCase())}`

const pageSize = described(
  numberOf(
    Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: contractLimits.acrossPageMax,
      default: contractLimits.acrossPageMax,
      reason: `must be between 1 and ${contractLimits.acrossPageMax}`,
    }),
  ),
  'How many records a page has at most.',
)

/** The orders of statements; the first is the default. */
const statementListOrders = ['PERIOD_START', 'CREATED_AT', 'SHORTFALL'] as const

const ofStatements = {
  shortfall: described(
    flag,
    'Only statements that were paid too little in the asset: paid ones, and unpaid ones whose period has ended. Requires `asset`.',
  ),
  asset: described(text, 'The asset of the shortfall, such as USDG.'),
  order_by: described(
    enumOf(statementListOrders),
    'What sorts the list: PERIOD_START by default, or SHORTFALL, which lists shortfalls have.',
  ),
}

const createdAt = {
  'created_at.gte': described(instant, 'Created at or after this time.'),
  'created_at.lt': described(instant, 'Created before this time.'),
}

/** The live records of all customers, for the operator's staff. */
export const listAllRecords: readonly Operation[] = resources.map((resource) => {
  const { kind, statuses } = resource
  const isStatement = kind === 'statements'
  const view = lists.find((list) => list.view.resource.kind === kind)?.view
  const plural = pluralOf(resource)
  assert(view !== undefined, `customers have no list of ${kind}`)
  return operation({
    id: listOfAll(resource),
    title: `List the ${plural} of all customers`,
    summary: `Returns the ${plural} of all customers that are not deleted or withdrawn, as the lists of their customers show them. A client that is bound to a customer gets those of its customer. A page may have fewer records than \`limit\`; the last one has no cursor.`,
    tag: 'Records',
    method: 'GET',
    path: `/ingest/v1/${kind}`,
    scope: 'ingest:search',
    query: {
      customer_id: described(text, 'Whose records; those of all customers by default.'),
      ...(statuses.length > 0 && {
        status: described(enumOf(statuses), 'Only records with this status.'),
      }),
      ...(isStatement ? ofStatements : createdAt),
      order: described(enumOf(['DESC', 'ASC'], 'DESC'), 'Newest or largest first (DESC), or last.'),
      limit: pageSize,
      page_cursor: pageCursor,
      purpose,
    },
    view: {
      name: `${listOfAll(resource).replace('list', '')}Page`,
      schema: Type.Object(
        {
          items: about(
            'The records; empty where none matches.',
            Type.Array(
              Type.Object({
                customer_id: about('Whose record it is.', Type.String()),
                record: asComponent(view),
                ...(isStatement && {
                  shortfall: Type.Optional(
                    about(
                      'With `shortfall=true`: what was owed and not paid in the asset, an exact decimal.',
                      Type.String(),
                    ),
                  ),
                }),
              }),
              { maxItems: contractLimits.acrossPageMax },
            ),
          ),
          ...nextPageCursor,
        },
        { description: `A page of the ${plural} of all customers.` },
      ),
    },
  })
})
