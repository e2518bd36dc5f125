import { test } from 'node:test'
import { acme, oauthWorld } from '../packages/oauth/test/support/oauth-world.ts'
import { note, rounded } from './figure.ts'

const ROUNDS = 300

/** The time of the processor, so that other work of the machine does not count. */
const busyMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

test('the time of a wrong secret beside that of an unknown client', async (t) => {
  const { token } = await oauthWorld(t)
  const times: Record<string, number[]> = { known: [], unknown: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const headers = { 'x-test-address': `10.0.${round >> 8}.${round & 255}` }
    for (const [kind, client_id] of [
      ['known', acme.id],
      ['unknown', 'client_none'],
    ] as const) {
      const before = busyMs()
      await token({ client_id, client_secret: 'guess' }, { headers })
      times[kind]?.push(busyMs() - before)
    }
  }
  const median = (kind: string) => times[kind]?.sort((a, b) => a - b)[ROUNDS / 2] ?? 0
  const ratio = rounded(median('known') / median('unknown'))
  note(t, { name: 'a wrong secret', value: ratio, unit: 'times an unknown client', goal: 1.4 })
})
