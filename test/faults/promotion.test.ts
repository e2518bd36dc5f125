import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorScopes } from '@bursar/contract'
import type { PostgresServer } from '../support/postgres-server.ts'
import { untilHolds } from '../support/until.ts'
import { quote } from './support/acts.ts'
import { askServer } from './support/ask-server.ts'
import { describeTimes, statusOf } from './support/client.ts'
import { askForToken, type Cluster, openCluster, tokenOf, untilTokens } from './support/cluster.ts'
import { startImports } from './support/imports.ts'
import { addLeavers, assertAllHolds, startActs } from './support/kept-acts.ts'
import { customers } from './support/ledger.ts'
import { promote } from './support/promote.ts'
import { assertUnavailable, startTraffic } from './support/traffic.ts'

/** The primary's machine fails, and the operator or its failover tool promotes a standby. */

test('SIGKILL of the primary: reads go on, changes get 503 with Retry-After, and a promotion restores both without a restart', async (t) => {
  const cluster = await openCluster()
  t.after(() => cluster.close())
  await cluster.importGeneration(customers, 2)
  await cluster.untilLevel()
  const traffic = startTraffic(cluster)
  await traffic.untilAnswered(100)

  const killedAt = performance.now()
  await cluster.primary.kill('SIGKILL')
  await untilRefused(cluster)
  const refusals = await assertRefused(cluster)
  // These checks could mark a standby as down, and then reads would not go on.
  for (let round = 0; round < 3; round += 1) await untilChecked(cluster.standbys)
  await traffic.untilAnswered(100)

  const promotedAt = performance.now()
  await promote(cluster.standbys)
  const promotionMs = performance.now() - promotedAt
  await untilTokens(cluster.urls)
  // The sessions of quotes are others, and look for the primary by themselves.
  await untilHolds('every server stores a quote', async () => {
    const answers = cluster.urls.map((url) => quote(url, cluster.tokens.get('ash')))
    return (await Promise.all(answers)).every((answer) => statusOf(answer) === 200)
  })
  const changesMs = performance.now() - promotedAt
  // The operator's sessions must find the new primary too.
  await untilHolds('an import works again', () =>
    cluster.importGeneration(customers, 3).then(
      ({ faultCount }) => faultCount === 0,
      () => false,
    ),
  )
  await traffic.untilAnswered(200)
  const { refused, cut, answered, walks, times } = traffic.since(killedAt)
  await traffic.stop()
  t.diagnostic(
    `${refused} of ${answered} reads refused, ${describeTimes(times)}, ${walks} walks; ` +
      `changes refused: ${describeTimes(refusals)}; ` +
      `promotion ${promotionMs.toFixed(0)} ms, tokens and quotes ${changesMs.toFixed(0)} ms after it began`,
  )
  assert.equal(cut, 0)
  assert.ok(refused <= traffic.inFlightMax, `${refused} were refused`)
})

test('every acknowledged change survives a promotion if a standby is synchronous', async (t) => {
  const cluster = await openCluster()
  t.after(() => cluster.close())
  await cluster.addClient('payouts', null, operatorScopes)
  const payouts = await tokenOf(cluster.urls[0] ?? '', 'payouts')
  const leavers = await addLeavers(cluster, 80)
  for (const node of [cluster.primary, ...cluster.standbys]) {
    await askServer(node, "alter system set synchronous_standby_names = 'ANY 1 (one, two)'")
    await askServer(node, 'select pg_reload_conf()')
  }
  const traffic = startTraffic(cluster)
  const acts = startActs(cluster, payouts, leavers)
  const imports = startImports(cluster)
  await untilHolds('enough is acknowledged', acts.isEnough)

  const killedAt = performance.now()
  await cluster.primary.kill('SIGKILL')
  await untilRefused(cluster)
  await promote(cluster.standbys)
  await untilTokens(cluster.urls)
  const tokensMs = performance.now() - killedAt
  const acknowledged = await acts.stop()
  await assertAllHolds(cluster, payouts, acknowledged)
  const generations = await imports.stop()
  await traffic.untilAnswered(100)
  const { refused, cut, answered, walks } = traffic.since(killedAt)
  await traffic.stop()
  const { quotes, consumptions, tokens, clients } = acknowledged
  t.diagnostic(
    `kept ${quotes.length} quotes, ${consumptions.length} consumptions, ${tokens.length} revocations, ` +
      `${clients.length} disabled clients, ${generations} imports; ${refused} of ${answered} reads refused, ` +
      `${walks} walks; tokens ${tokensMs.toFixed(0)} ms after the kill`,
  )
  assert.equal(cut, 0)
})

async function untilRefused({ urls }: Cluster): Promise<void> {
  await untilHolds('every server has marked the primary as down', async () => {
    const answers = await Promise.all(urls.map((url) => askForToken(url, 'ash')))
    return answers.every((answer) => statusOf(answer) === 503)
  })
}

/** Waits until each server process has checked each standby, by the clocks of the standbys. */
async function untilChecked(standbys: readonly PostgresServer[]): Promise<void> {
  for (const standby of standbys) {
    const [[now] = []] = await askServer(standby, 'select clock_timestamp()::text')
    await untilHolds('every server has checked the standby', async () => {
      const [[isChecked] = []] = await askServer(
        standby,
        `select min(query_start) > '${now}' from pg_stat_activity
         where usename = 'bursar' and query like '%bursar.lineage%'`,
      )
      return isChecked === 't'
    })
  }
}

/**
 * Tokens and fee quotes need the primary: without it they get 503 with Retry-After. Returns how
 * many milliseconds each refusal took.
 */
async function assertRefused(cluster: Cluster): Promise<readonly number[]> {
  const times: number[] = []
  for (const url of cluster.urls) {
    for (const answer of [
      await askForToken(url, 'ash'),
      await quote(url, cluster.tokens.get('ash')),
    ]) {
      assert.equal(answer.kind, 'answered')
      if (answer.kind !== 'answered') return []
      assert.equal(answer.status, 503)
      assert.match(String(answer.headers['retry-after']), /^[0-9]+$/)
      times.push(answer.ms)
    }
    const refused = await quote(url, cluster.tokens.get('ash'))
    if (refused.kind === 'answered') assertUnavailable(refused)
  }
  return times
}
