import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMovableClock, systemRandom } from '@bursar/base'
import { customerScopes, operatorScopes } from '@bursar/contract'
import { createSampleClient } from '@bursar/oauth'
import { orderFaults, orderOf } from '../../../../test/support/change-order.ts'
import { fetchToken, startTestService, type TestService } from '../../../../test/support/harness.ts'
import { isLong } from '../../../../test/support/long.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { runSequence, type World } from './sequence.ts'

/** Sequences of an ordinary run, and of a long one. `BURSAR_MODEL_SEED` replays one. */
const SEQUENCES = isLong ? 10_000 : 120
/** As many at a time as have their commits together. */
const AT_ONCE = 8
const MILLISECOND = 1000n

const replayed = process.env.BURSAR_MODEL_SEED

async function openWorld(): Promise<World & { readonly service: TestService }> {
  // The writer of a stream follows a clock that is ahead, but not one that stands.
  const time = openMovableClock()
  const service = await startTestService({ clock: time.now })
  const { credentials: store, keyring, clock, oauth } = service.parts
  return {
    service,
    operator: await operatorToken(service, 'core', operatorScopes),
    tick: () => {
      time.setOffset(time.offset() + MILLISECOND)
      return time.now()
    },
    tokenOf: async (customerId) => {
      const sample = { id: customerId, secret: `${customerId}_secret_of_test`, customerId }
      await createSampleClient(
        { store, keyring, clock, random: systemRandom },
        { ...sample, name: customerId, scopes: customerScopes },
      )
      await oauth.refresh()
      const { id: clientId, secret: clientSecret } = sample
      return await fetchToken(service.url, { customerId, clientId, clientSecret })
    },
  }
}

test('seeded sequences of calls agree with a model of the store', async () => {
  const world = await openWorld()
  const seeds =
    replayed === undefined
      ? Array.from({ length: SEQUENCES }, (_, at) => at + 1)
      : [Number(replayed)]
  const count = seeds.length
  let done = 0
  try {
    const worker = async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
        await runSequence(world, seed)
        done += 1
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    assert.deepEqual(orderFaults(await orderOf(world.service)), [])
  } finally {
    await world.service.stop()
  }
  assert.equal(done, count)
})
