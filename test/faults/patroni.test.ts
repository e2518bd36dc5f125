import assert from 'node:assert/strict'
import { operatorScopes } from '@bursar/contract'
import { longTest } from '../support/long.ts'
import { untilHolds } from '../support/until.ts'
import { createSchema, openDeployment, tokenOf, untilLevel } from './support/cluster.ts'
import { startImports } from './support/imports.ts'
import { addLeavers, assertAllHolds, startActs } from './support/kept-acts.ts'
import { leaseSeconds, type Patroni, type PatroniMember, startPatroni } from './support/patroni.ts'
import { assertPutsHold, startPuts } from './support/puts.ts'
import { startTraffic } from './support/traffic.ts'

const PUT_CLIENTS = 4

longTest('a primary that Patroni replaces loses no acknowledged write', async (t) => {
  await using opened = new AsyncDisposableStack()
  const patroni = await startPatroni(opened)
  const members = patroni.members
  const first = await leaderOf(patroni)
  await createSchema(first)
  const others = members.filter((member) => member !== first)
  const cluster = await openDeployment(
    { nodes: members, standbys: members, untilLevel: () => untilLevel(first, others) },
    { servers: 2, env: { BURSAR_FEE_QUOTES_OPEN_MAX: '100000' } },
    opened,
  )
  t.after(() => cluster.close())
  const [url = ''] = cluster.urls
  await cluster.addClient('payouts', null, operatorScopes)
  const payouts = await tokenOf(url, 'payouts')
  const leavers = await addLeavers(cluster, 40)
  const traffic = startTraffic(cluster)
  const imports = startImports(cluster)
  const acts = startActs(cluster, payouts, leavers)
  const puts = startPuts(cluster, payouts, PUT_CLIENTS)
  await untilHolds('enough is acknowledged', () => acts.isEnough() && puts.isEnough())

  const killedAt = performance.now()
  await first.kill()
  await puts.untilResumed('PUTs work again')
  await untilHolds(
    'Patroni names the new leader',
    async () => (await patroni.leader()) !== undefined,
  )
  const second = await leaderOf(patroni)
  assert.notEqual(second, first)
  const killMs = puts.longestGapMs(killedAt)
  const rejoiningAt = performance.now()
  first.start()
  await untilHolds('the killed member follows', patroni.isComplete, 90_000)
  const rejoinMs = performance.now() - rejoiningAt
  await traffic.untilAnswered(200)

  const switchedAt = performance.now()
  const target = await synchronousOf(patroni)
  const switched = await patroni.switchOver(second, target)
  await puts.untilResumed(`PUTs work again, ${switched}`)
  await untilHolds('every member follows', patroni.isComplete, 90_000)
  const switchMs = puts.longestGapMs(switchedAt)
  assert.equal(await leaderOf(patroni), target)
  await traffic.untilAnswered(200)

  const written = await puts.stop()
  const kept = await acts.stop()
  const generations = await imports.stop()
  const { answered, refused, cut, walks } = await traffic.stop()
  await assertPutsHold(cluster, payouts, written)
  await assertAllHolds(cluster, payouts, kept)
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  t.diagnostic(
    `no acknowledged PUT for ${seconds(killMs)} s after the kill (lease ${leaseSeconds} s) and ` +
      `${seconds(switchMs)} s in the switchover; the killed member followed after ` +
      `${seconds(rejoinMs)} s. Kept ${written.acknowledged} PUTs, ${kept.quotes.length} quotes, ` +
      `${kept.consumptions.length} consumptions, ${kept.tokens.length} revocations, ` +
      `${kept.clients.length} disabled clients, ${generations} imports; ` +
      `${refused} of ${answered} reads refused, ${walks} walks`,
  )
  assert.equal(cut, 0)
})

async function leaderOf(patroni: Patroni): Promise<PatroniMember> {
  const leader = await patroni.leader()
  assert.ok(leader, 'there is no leader')
  return leader
}

async function synchronousOf(patroni: Patroni): Promise<PatroniMember> {
  const synchronous = await patroni.synchronous()
  assert.ok(synchronous, 'no standby is synchronous')
  return synchronous
}
