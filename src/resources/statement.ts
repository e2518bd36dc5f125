import { Type } from 'typebox'
import {
  amountMember,
  enumMember,
  identifierMember,
  metadataMember,
  objectMember,
  timestampMember,
  uuidMember,
} from '../contract/members.ts'
import { operatorMembers } from '../contract/operator-members.ts'
import {
  defineResource,
  listView,
  type RecordFault,
  type RecordInput,
  type RecordRules,
} from '../contract/resource.ts'

export const statementStatuses = [
  'STATEMENT_STATUS_UNSPECIFIED',
  'STATEMENT_STATUS_INITIATED',
  'STATEMENT_STATUS_GENERATED',
  'STATEMENT_STATUS_PAID',
] as const

const balances = Type.Array(
  objectMember({
    asset: identifierMember,
    amount_paid: amountMember,
    total_amount_owed: amountMember,
  }),
  { maxItems: 1000, reason: 'must be an array of at most 1000 balances' },
)

const answered = {
  id: uuidMember,
  ref_id: Type.Optional(identifierMember),
  customer_id: identifierMember,
  type: identifierMember,
  product: identifierMember,
  status: enumMember(statementStatuses),
  metadata: Type.Optional(metadataMember(50, 500, 500)),
  statement_balances: balances,
  period_start: timestampMember,
  period_end: timestampMember,
  generated_at: Type.Optional(timestampMember),
  paid_at: Type.Optional(timestampMember),
  created_at: timestampMember,
} as const

/** What a customer was owed and paid in a period (contract, section 2.8). */
const resource = defineResource({
  kind: 'statements',
  table: 'statement',
  noun: 'statement',
  record: objectMember({ ...answered, ...operatorMembers.versioned }),
  columns: { status: 'status' },
  orderBy: 'period_start',
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
      reason: `must be registered in the configuration; registered are ${[...register].join(', ')}`,
    }))
}
