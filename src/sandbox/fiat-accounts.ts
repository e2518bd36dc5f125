import type { RecordInput } from '../contract/resource.ts'
import { fiatAccountStatuses } from '../resources/fiat-account.ts'
import { printInstant } from '../values/instant.ts'
import { fiatNetwork, owner } from './banks.ts'
import { cycle, drawUuid } from './seeded.ts'
import { accountId, carriesOptional, createdAt, fixtureIds, identityId, refId } from './story.ts'

/** Live accounts first, then deleted ones. Acme's newest has an id that is easy to remember. */
export function fiatAccounts(customer: string, live: number, deleted: number): RecordInput[] {
  return Array.from({ length: live + deleted }, (_, at) => ({
    ...fiatAccount(customer, at),
    ...(at >= live && { deleted_at: printInstant(1_793_600_000_000_000n) }),
  }))
}

function fiatAccount(customer: string, at: number): RecordInput {
  const isFirst = customer === 'acme' && at === 0
  return {
    id: isFirst ? fixtureIds['fiat-accounts'] : drawUuid(`${customer} fiat account ${at}`),
    customer_id: customer,
    status: isFirst ? 'APPROVED' : cycle(fiatAccountStatuses, at),
    fiat_network_instructions: fiatNetwork(`${customer} ${at}`, at),
    created_at: createdAt(at),
    ...(at % 3 !== 2 && { ref_id: refId(customer, 'account', at) }),
    ...(carriesOptional(at) && {
      identity_id: identityId(customer, at),
      fiat_account_owner: owner(at),
      metadata: metadata(at),
    }),
    ...(at % 2 === 0 && { account_id: accountId(customer, at), updated_at: createdAt(at) }),
  }
}

function metadata(at: number): RecordInput {
  if (at % 8 !== 4) return { cost_centre: String(at % 17) }
  return {
    cost_centre: '12',
    note: 'Überweisung “Q3” – 支払い',
    a: '',
    b: 'x'.repeat(100),
    c: '1',
    d: '2',
  }
}
