import type { RecordInput } from '../contract/resource.ts'
import { depositInstructionsStatuses } from '../resources/fiat-deposit-instructions.ts'
import { fiatNetwork, owner } from './banks.ts'
import { cycle, drawMemo, drawUuid } from './seeded.ts'
import {
  accountId,
  carriesOptional,
  createdAt,
  fixtureIds,
  identityId,
  profileId,
  refId,
} from './story.ts'

export function depositInstructions(customer: string, count: number): RecordInput[] {
  return Array.from({ length: count }, (_, at) => {
    const isFirst = customer === 'acme' && at === 0
    return {
      id: isFirst
        ? fixtureIds['fiat-deposit-instructions']
        : drawUuid(`${customer} deposit instructions ${at}`),
      customer_id: customer,
      profile_id: profileId(customer, at),
      status: cycle(depositInstructionsStatuses, at),
      memo_id: isFirst ? 'SANDBOXMEMO00001' : drawMemo(`${customer} memo ${at}`),
      fiat_network_instructions: fiatNetwork(`${customer} instructions ${at}`, at),
      created_at: createdAt(at),
      // Every seventh record has no identity; its answer shows the nil UUID.
      ...(at % 7 !== 6 && { identity_id: identityId(customer, at) }),
      ...(at % 3 !== 2 && { ref_id: refId(customer, 'instructions', at) }),
      ...(carriesOptional(at) && {
        account_id: accountId(customer, at),
        fiat_account_owner: owner(at),
        metadata: { purpose: cycle(['funding', 'settlement'], at) },
      }),
    }
  })
}
