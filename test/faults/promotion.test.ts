import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { operatorScopes } from '../../src/contract/scopes.ts'
import { untilHolds } from '../support/until.ts'
import { quote } from './support/acts.ts'
import { askServer } from './support/ask-server.ts'
import { assertInTime, statusOf } from './support/client.ts'
import { askForToken, type Cluster, openCluster, tokenOf, untilTokens } from './support/cluster.ts'
import { startImports } from './support/imports.ts'
import { addLeavers, assertAllHolds, startActs } from './support/kept-acts.ts'
import { customers } from './support/ledger.ts'
import { promote } from './support/promote.ts'
import { assertUnavailable, startTraffic } from './support/traffic.ts'

/** The primary's machine fails, and the operator or its failover tool promotes a standby. */

test('SIGKILL of the primary: reads go on, changes get 503 at once, and a promotion restores both without a restart', async (t) => {
  const cluster = await openCluster()
  t.after(() => cluster.close())
  await cluster.importGeneration(customers, 2)
  await cluster.untilLevel()
  const traffic = startTraffic(cluster)
  await passing(500)

  const killedAt = performance.now()
  await cluster.primary.kill('SIGKILL')
  await untilRefused(cluster)
  await assertRefusedAtOnce(cluster)
  // Long enough for health checks that could mark a standby as down.
  await passing(1500)
  const meanwhile = traffic.since(killedAt)
  assert.ok(meanwhile.answered > 50, `only ${meanwhile.answered} reads were answered`)

  const promotedAt = performance.now()
  await promote(cluster.standbys)
  const promotionMs = performance.now() - promotedAt
  await untilTokens(cluster.urls, 10_000)
  // The sessions of quotes are others, and look for the primary by themselves.
  await untilHolds(
    'every server stores a quote',
    async () => {
      const answers = cluster.urls.map((url) => quote(url, cluster.tokens.get('ash')))
      return (await Promise.all(answers)).every((answer) => statusOf(answer) === 200)
    },
    10_000,
  )
  const changesMs = performance.now() - promotedAt
  // The operator's sessions must find the new primary too.
  await untilHolds(
    'an import works again',
    () =>
      cluster.importGeneration(customers, 3).then(
        ({ faultCount }) => faultCount === 0,
        () => false,
      ),
    10_000,
  )
  await passing(1000)
  const { refused, cut, answered, walks, times } = traffic.since(killedAt)
  await traffic.stop()
  t.diagnostic(
    `${refused} of ${answered} reads refused, ${assertInTime(times)}, ${walks} walks; ` +
      `promotion ${promotionMs.toFixed(0)} ms, tokens and quotes ${changesMs.toFixed(0)} ms after it began`,
  )
  assert.equal(cut, 0)
  assert.ok(refused <= traffic.inFlightMax, `${refused} were refused`)
  assert.ok(changesMs < 5000, `tokens and quotes after ${changesMs} ms`)
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
  await untilHolds('enough is acknowledged', async () => acts.isEnough(), 30_000)

  const killedAt = performance.now()
  await cluster.primary.kill('SIGKILL')
  await untilRefused(cluster)
  await promote(cluster.standbys)
  await untilTokens(cluster.urls, 10_000)
  const tokensMs = performance.now() - killedAt
  const acknowledged = await acts.stop()
  await assertAllHolds(cluster, payouts, acknowledged)
  const generations = await imports.stop()
  await passing(500)
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
  await untilHolds(
    'every server has marked the primary as down',
    async () => {
      const answers = await Promise.all(urls.map((url) => askForToken(url, 'ash')))
      return answers.every((answer) => statusOf(answer) === 503)
    },
    5000,
  )
}

/** Tokens and fee quotes need the primary: without it they get 503 with Retry-After at once. */
async function assertRefusedAtOnce(cluster: Cluster): Promise<void> {
  const times: number[] = []
  for (const url of cluster.urls) {
    for (const answer of [
      await askForToken(url, 'ash'),
      await quote(url, cluster.tokens.get('ash')),
    ]) {
      assert.equal(answer.kind, 'answered')
      if (answer.kind !== 'answered') return
      assert.equal(answer.status, 503)
      assert.match(String(answer.headers['retry-after']), /^[0-9]+$/)
      times.push(answer.ms)
    }
    const refused = await quote(url, cluster.tokens.get('ash'))
    if (refused.kind === 'answered') assertUnavailable(refused)
  }
  const median = times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0
  assert.ok(median < 500, `refused after ${median} ms`)
}
