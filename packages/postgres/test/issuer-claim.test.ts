import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openLog, systemTime } from '@bursar/base'
import { openServiceStores } from '@bursar/server/stores'
import { configOf, openPlace, type StoreLocation } from '../../../test/support/harness.ts'

let place: StoreLocation

before(async () => {
  place = await openPlace('postgres')
})
after(() => place.remove())

const [a, b, c] = [
  'https://a.example',
  'http://127.0.0.1:8080',
  `https://${'ü'.repeat(60)}.example`,
]

/** Declares an issuer as a server does, and returns what it learns and how it ends. */
async function claim(issuer = a) {
  const deps = { config: configOf(place.env), clock: systemTime.now, log: openLog('silent') }
  const stores = await openServiceStores(deps)
  return { other: await stores.claimIssuer(issuer), end: stores.close }
}

test('a server learns of another issuer on its store for as long as the other server runs', async () => {
  const [first, same] = [await claim(a), await claim(a)]
  assert.deepEqual([first.other, same.other], [undefined, undefined])
  const different = await claim(b)
  assert.equal(different.other, a)
  await different.end()
  await first.end()
  const whileOneRuns = await claim(b)
  assert.equal(whileOneRuns.other, a)
  await whileOneRuns.end()
  await same.end()
  const [later, sameAsLater] = [await claim(c), await claim(c)]
  assert.deepEqual([later.other, sameAsLater.other], [undefined, undefined])
  await later.end()
  await sameAsLater.end()
})

test('servers that start at once agree or learn of one another', async () => {
  const same = await Promise.all([claim(a), claim(a), claim(a)])
  assert.deepEqual(
    same.map(({ other }) => other),
    [undefined, undefined, undefined],
  )
  await Promise.all(same.map(({ end }) => end()))
  const different = await Promise.all([claim(a), claim(b)])
  assert.ok(different.some(({ other }) => other !== undefined))
  await Promise.all(different.map(({ end }) => end()))
})
