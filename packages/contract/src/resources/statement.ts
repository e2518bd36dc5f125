import { hintOf } from '@bursar/base'
import { Type } from 'typebox'
import {
  about,
  amountMember,
  component,
  enumMember,
  identifierMember,
  metadataMember,
  objectMember,
  timestampMember,
  uuidMember,
} from '../members.ts'
import { operatorMembers } from '../operator-members.ts'
import {
  defineResource,
  listView,
  type RecordFault,
  type RecordInput,
  type RecordRules,
} from '../resource.ts'
import { statementTerms } from './statement-terms.ts'

const statementStatuses = [
  'STATEMENT_STATUS_UNSPECIFIED',
  'STATEMENT_STATUS_INITIATED',
  'STATEMENT_STATUS_GENERATED',
  'STATEMENT_STATUS_PAID',
] as const

export const statementStatus = component(
  'StatementStatus',
  'The status of a statement.',
  enumMember(statementStatuses),
)

const balances = Type.Array(
  component(
    'StatementBalance',
    'What was owed and paid in one asset.',
    objectMember({
      asset: about('The asset’s code, such as USDG.', identifierMember),
      amount_paid: about('What has been paid.', amountMember),
      total_amount_owed: about('What is owed in all, paid or not.', amountMember),
    }),
  ),
  { maxItems: 1000, reason: 'must be an array of at most 1000 balances' },
)

const answered = {
  id: about('Identifier of the statement.', uuidMember),
  ref_id: Type.Optional(about('Client-specified identifier, for idempotence.', identifierMember)),
  customer_id: about('Customer to whom the statement belongs.', identifierMember),
  type: about('The type, such as STATEMENT_TYPE_USDG_REWARD.', identifierMember),
  product: about('The product, such as USDG_REWARDS.', identifierMember),
  status: about('How far the statement is: initiated, generated, paid.', statementStatus),
  metadata: Type.Optional(
    about('Pairs of texts, such as a total_amount.', metadataMember(50, 500, 500)),
  ),
  statement_balances: about('What was owed and paid, by asset.', balances),
  period_start: about('When the period begins.', timestampMember),
  period_end: about('When the period ends.', timestampMember),
  generated_at: Type.Optional(
    about('When the statement was generated; absent until then.', timestampMember),
  ),
  paid_at: Type.Optional(about('When it was paid; absent until then.', timestampMember)),
  created_at: about('When the statement was created.', timestampMember),
} as const

/** What a customer was owed and paid in a period (contract, section 2.8). */
const resource = defineResource({
  kind: 'statements',
  table: 'statement',
  noun: 'statement',
  description: 'What a customer was owed and paid in a period.',
  record: objectMember({ ...answered, ...operatorMembers.versioned }),
  columns: { status: 'status' },
  orderBy: 'period_start',
  statuses: statementStatuses,
  terms: { letter: 's', of: statementTerms },
  withheldMembers: ['source_version'],
  check: unregistered,
})

const full = listView('Statement', resource, answered)

export const statement = { resource, full }

/** The contract leaves types open. One that the operator has not registered is a typing error. */
function unregistered(record: RecordInput, rules: RecordRules): RecordFault[] {
  const registers = [
    ['type', rules.statementTypes],
    ['product', rules.statementProducts],
  ] as const
  return registers
    .filter(([member, register]) => {
      const value = record[member]
      return typeof value === 'string' && !register.has(value)
    })
    .map(([member, register]) => ({
      member,
      code: 'unknown_value' as const,
      reason: `must be registered in the configuration; registered are ${[...register].join(', ')}${hintOf(record[member], [...register])}`,
    }))
}
