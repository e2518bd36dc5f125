import assert from 'node:assert/strict'
import { setTimeout as passing } from 'node:timers/promises'
import { aFiatAccount, anId } from '../../support/records.ts'
import { untilHolds } from '../../support/until.ts'
import { send, statusOf } from './client.ts'
import type { Deployment } from './cluster.ts'

/** PUTs of single records of a customer who is not in the ledger of the traffic. */
const CUSTOMER = 'dogwood'
const RECORDS_OF_CLIENT = 40

/** A new primary takes over when the lease of the old one has ended, and then Patroni moves on. */
const RESUMED_MS = 90_000

type Written = {
  /** How many PUTs were acknowledged. */
  readonly acknowledged: number
  /** The last acknowledged number of each id. A later one may have been stored or not. */
  readonly last: ReadonlyMap<string, number>
}

export function startPuts({ urls, running }: Deployment, token: string, clients: number) {
  const last = new Map<string, number>()
  const times: number[] = []
  let sent = 0
  let newest = 0
  let stopped = false
  const client = async (at: number) => {
    for (let count = 1; !stopped; count += 1) {
      const id = anId(at * RECORDS_OF_CLIENT + (count % RECORDS_OF_CLIENT))
      const url = urls[(at + count) % urls.length] ?? ''
      const { id: _, ...body } = aFiatAccount({ id, customer_id: CUSTOMER })
      sent += 1
      const number = sent
      const answer = await send(url, pathOf(id), {
        method: 'PUT',
        token,
        body: JSON.stringify({ ...body, ref_id: `${id} ${count}` }),
      })
      const status = statusOf(answer)
      assert.ok([200, 201, 503, 0].includes(status), JSON.stringify(answer))
      if (status === 200 || status === 201) {
        last.set(id, count)
        times.push(performance.now())
        newest = Math.max(newest, number)
      }
      await passing(10)
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, at) => client(at)))
  ended.catch(() => {})
  const stop = async (): Promise<Written> => {
    stopped = true
    await ended
    return { acknowledged: times.length, last }
  }
  running.add(stop)
  return {
    /** Whether so many ids have an acknowledged PUT that a loss would be seen. */
    isEnough: () => last.size > 100,
    /** Waits until a PUT is acknowledged that is sent from now on. */
    untilResumed: (promised: string) => {
      const before = sent
      return untilHolds(promised, () => newest > before, RESUMED_MS)
    },
    /** The longest time without an acknowledged PUT since `at`. */
    longestGapMs: (at: number) => {
      const since = [at, ...times.filter((time) => time >= at)]
      return Math.max(...since.map((time, index) => (since[index + 1] ?? time) - time))
    },
    stop,
  }
}

const pathOf = (id: string): string => `/ingest/v1/fiat-accounts/${id}`

export async function assertPutsHold(
  { urls }: Deployment,
  token: string,
  { last }: Written,
): Promise<void> {
  for (const [id, count] of last) {
    const answer = await send(urls[0] ?? '', pathOf(id), { token })
    assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer))
    const [, stored] = String(JSON.parse(answer.text).ref_id).split(' ')
    assert.ok(Number(stored) >= count, `PUT ${count} of ${id} is lost: ${answer.text}`)
  }
}
