import assert from 'node:assert/strict'
import { setTimeout as passing } from 'node:timers/promises'
import { customerScopes } from '@bursar/contract'
import { untilHolds } from '../../support/until.ts'
import { consume, disable, quote, revoke } from './acts.ts'
import { send, statusOf } from './client.ts'
import { askForToken, type Deployment, tokenOf } from './cluster.ts'

/** Changes that are repeated through a fault. Each that was acknowledged must hold after it. */

type Leaver = { readonly id: string; readonly token: string }

/** Clients that the test disables, each with a token. */
export async function addLeavers(cluster: Deployment, count: number): Promise<Leaver[]> {
  const ids = Array.from({ length: count }, (_, at) => `leaver_${at}`)
  for (const id of ids) await cluster.addClient(id, 'ash', customerScopes)
  const tokens: Leaver[] = []
  for (const id of ids) tokens.push({ id, token: await tokenOf(cluster.urls[0] ?? '', id) })
  return tokens
}

type Acknowledged = {
  readonly quotes: string[]
  readonly consumptions: { readonly id: string; readonly text: string }[]
  readonly tokens: string[]
  readonly clients: Leaver[]
}

/** Repeats each kind of change, on each server in turn, and records those answered with 200. */
export function startActs(cluster: Deployment, payouts: string, leavers: readonly Leaver[]) {
  const noted: Acknowledged = { quotes: [], consumptions: [], tokens: [], clients: [] }
  let stopped = false
  let turn = 0
  const url = () => cluster.urls[turn++ % cluster.urls.length] ?? ''
  const rounds: (() => Promise<void>)[] = [
    async () => {
      const quoted = await quote(url(), cluster.tokens.get('ash'))
      if (statusOf(quoted) !== 200 || quoted.kind !== 'answered') return
      const { id } = JSON.parse(quoted.text)
      if (noted.quotes.push(id) % 2 === 0) return
      const consumed = await consume(url(), payouts, id, `payout-${id}`)
      if (statusOf(consumed) !== 200 || consumed.kind !== 'answered') return
      noted.consumptions.push({ id, text: consumed.text })
    },
    async () => {
      const token = await tokenOf(url(), 'birch').catch(() => undefined)
      if (token === undefined) return
      if (statusOf(await revoke(url(), 'birch', token)) === 200) noted.tokens.push(token)
    },
    async () => {
      const leaver = leavers[noted.clients.length]
      if (leaver === undefined) return
      const isDone = await disable(cluster, leaver.id).catch(() => false)
      if (isDone) noted.clients.push(leaver)
    },
  ]
  const running = rounds.map(async (round) => {
    while (!stopped) {
      await round()
      await passing(5)
    }
  })
  const stop = async () => {
    stopped = true
    await Promise.all(running)
    return noted
  }
  cluster.running.add(stop)
  return { isEnough: () => Object.values(noted).every((list) => list.length >= 10), stop }
}

export async function assertAllHolds(
  cluster: Deployment,
  payouts: string,
  { quotes, consumptions, tokens, clients }: Acknowledged,
): Promise<void> {
  const [url = ''] = cluster.urls
  const consumed = new Map(consumptions.map(({ id, text }) => [id, text]))
  // The operator's sessions have their own health checks and may find the primary later.
  const anyQuote = quotes[0] ?? ''
  await untilHolds(
    'fees can be consumed',
    async () => statusOf(await consume(url, payouts, anyQuote, `payout-${anyQuote}`)) !== 503,
  )
  for (const id of quotes) {
    const answer = await consume(url, payouts, id, `payout-${id}`)
    assert.equal(statusOf(answer), 200, `quote ${id} is lost: ${JSON.stringify(answer)}`)
    const text = consumed.get(id)
    if (text !== undefined && answer.kind === 'answered') assert.equal(answer.text, text)
    assert.equal(statusOf(await consume(url, payouts, id, 'another payout')), 409)
  }
  const isRefusedEverywhere = async (token: string) => {
    for (const server of cluster.urls) {
      await untilHolds(
        'a revoked token is refused',
        async () => statusOf(await send(server, READ, { token })) === 401,
      )
    }
  }
  for (const token of tokens) await isRefusedEverywhere(token)
  for (const { token } of clients) await isRefusedEverywhere(token)
  for (const { id } of clients.slice(-ATTEMPTS_MAX)) {
    assert.equal(statusOf(await askForToken(url, id)), 401)
  }
}

/** One address may fail 60 times a minute, after which it is answered 429. */
const ATTEMPTS_MAX = 40

const READ = '/v2/transfer/fiat-accounts?limit=1'
