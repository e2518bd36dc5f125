import { printInstant } from '@bursar/base'
import { fiatNetwork } from './banks.ts'
import { type Life, lifeOf } from './lives.ts'
import { owner } from './owners.ts'
import { cycle, drawMemo } from './seeded.ts'
import { carriesOptional, type Story } from './story.ts'

/** Some are replaced by newer ones, which name the same account with another memo. */
export function depositInstructions(story: Story, count: number, hours = 7): Life[] {
  const { customer } = story
  const newerBy = Math.min(24, Math.floor(count / 4))
  return Array.from({ length: count }, (_, at) => {
    const isReplaced = at >= newerBy && at % 9 === newerBy % 9
    const origin = isReplaced ? at - newerBy : at
    const createdAt = story.createdAt(at, hours)
    const valid = {
      id: story.idOf('fiat-deposit-instructions', at),
      customer_id: customer,
      profile_id: story.profileId(origin),
      status: 'VALID',
      memo_id:
        customer === 'acme' && at === 0 ? 'SANDBOXMEMO00001' : drawMemo(`${customer} memo ${at}`),
      fiat_network_instructions: fiatNetwork(
        `${customer} instructions ${origin}`,
        origin,
        story.identity(origin),
      ),
      created_at: printInstant(createdAt),
      // Every seventh record has no identity; its answer shows the nil UUID.
      ...(origin % 7 !== 6 && { identity_id: story.identityId(origin) }),
      ...(at % 3 !== 2 && { ref_id: story.refId('instructions', at) }),
      ...(carriesOptional(origin) && {
        account_id: story.accountId(origin),
        fiat_account_owner: owner(story.identity(origin)),
        metadata: { purpose: cycle(['funding', 'settlement'], origin) },
      }),
    }
    const deprecated = {
      happenedAt: story.createdAt(origin, hours),
      record: () => ({ ...valid, status: 'DEPRECATED' }),
    }
    const created = { happenedAt: createdAt, record: () => valid }
    return lifeOf(story, isReplaced ? [created, deprecated] : [created])
  })
}
