import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { openLog } from '@bursar/base'
import { temporaryFolder } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/until.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'
import { observedFees } from '../../src/sources/observed-fees.ts'
import { now } from '../sample-basis.ts'
import { startStub } from './stub-node.ts'

/** What a command learns of the node of Ethereum, and whether it knows that yet. */
function observe(test: TestContext, nodes: readonly string[]) {
  const folder = temporaryFolder()
  test.after(() => rmSync(folder, { recursive: true }))
  const feeSchedule = join(folder, 'fees.json')
  const rpc = nodes.map((url) => ({ url }))
  writeFileSync(feeSchedule, JSON.stringify({ networks: { ETHEREUM: { rpc } } }))
  const config = { feeSchedule, acceptSampleFees: true }
  const observed = { isKnown: false, costs: 0 }
  const log = openLog('silent')
  void observedFees({ config, environment: {}, clock: () => now, log }).then(({ costs }) => {
    Object.assign(observed, { isKnown: true, costs: costs.size })
  })
  return observed
}

it('waits five seconds for the first answers of the sources, and no longer', async (test) => {
  const silent = await startStub(test, () => {})
  using time = takeTime()
  const observed = observe(test, [silent.url])
  await time.advance(1)
  await until(() => silent.requests() === 1)
  await time.advance(4998)
  assert.equal(observed.isKnown, false)
  await time.advance(1)
  assert.deepEqual(observed, { isKnown: true, costs: 0 })
  assert.equal(time.waiting(), 0)
})

it('waits for nothing where there is no source', async (test) => {
  using time = takeTime()
  const observed = observe(test, [])
  await time.advance(0)
  assert.equal(observed.isKnown, true)
})
