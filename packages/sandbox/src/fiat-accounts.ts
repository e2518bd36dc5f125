import { DAY_MICROS, HOUR_MICROS, printInstant } from '@bursar/base'
import type { RecordInput } from '@bursar/contract'
import { fiatNetwork, formerNetwork } from './banks.ts'
import { type Life, lifeOf, type Moment } from './lives.ts'
import { owner } from './owners.ts'
import { cycle } from './seeded.ts'
import { carriesOptional, type Story } from './story.ts'

/** Live accounts first, then deleted ones. Acme's newest has an id that is easy to remember. */
export function fiatAccounts(story: Story, live: number, deleted: number, hours = 7): Life[] {
  return Array.from({ length: live + deleted }, (_, at) =>
    fiatAccount(story, at, at < live ? undefined : at - live, hours),
  )
}

/** Somebody decides on an account some days after it was created; some change a month later. */
function fiatAccount(story: Story, at: number, deletion: number | undefined, hours: number): Life {
  const createdAt = story.createdAt(at, hours)
  const decidedAt = createdAt + cycle([21n, 44n, 70n], at) * HOUR_MICROS
  const isFixture = story.customer === 'acme' && at === 0
  const isDecided = decidedAt <= (isFixture ? story.until : story.end)
  const changedAt = createdAt + 40n * DAY_MICROS
  const changes = [4, 5].includes(at % 12) && isDecided && changedAt <= story.end
  const networks = fiatNetwork(`${story.customer} ${at}`, at, story.identity(at))
  const created = () => ({
    ...membersOf(story, at, createdAt),
    status: 'PENDING',
    fiat_network_instructions: changes ? formerNetwork(networks) : networks,
  })
  const decided = () => ({
    ...created(),
    status: !isFixture && (at + story.salt) % 23 === 6 ? 'REJECTED' : 'APPROVED',
    ...(at % 2 === 0 && { updated_at: printInstant(decidedAt) }),
  })
  const changed = () => ({
    ...decided(),
    fiat_network_instructions: networks,
    updated_at: printInstant(changedAt),
  })
  const moments: Moment[] = [
    { happenedAt: createdAt, record: created },
    ...(isDecided ? [{ happenedAt: decidedAt, record: decided }] : []),
    ...(changes ? [{ happenedAt: changedAt, record: changed }] : []),
  ]
  if (deletion !== undefined) {
    const happenedAt = story.end - BigInt((deletion % 20) * 5 + 2) * DAY_MICROS
    const last = moments.at(-1)
    const record = () => ({ ...last?.record(), deleted_at: printInstant(happenedAt) })
    moments.push({ happenedAt, record })
  }
  return lifeOf(story, moments)
}

function membersOf(story: Story, at: number, createdAt: bigint): RecordInput {
  return {
    id: story.idOf('fiat-accounts', at),
    customer_id: story.customer,
    created_at: printInstant(createdAt),
    ...(at % 3 !== 2 && { ref_id: story.refId('account', at) }),
    ...(carriesOptional(at) && {
      identity_id: story.identityId(at),
      fiat_account_owner: owner(story.identity(at)),
      metadata: metadata(at),
    }),
    ...(at % 2 === 0 && { account_id: story.accountId(at) }),
  }
}

/** Every fortieth has as many and as long texts as the contract allows. */
function metadata(at: number): RecordInput {
  if (at % 40 !== 12) return { cost_centre: String(4100 + (at % 17)) }
  return {
    cost_centre: '4112',
    note: 'Überweisung “Q3” – 支払い',
    a: '',
    b: 'x'.repeat(100),
    c: '1',
    d: '2',
  }
}
