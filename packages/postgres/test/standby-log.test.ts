import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import {
  addressesOf,
  anyRole,
  openTestDatabase,
  type TestDatabase,
} from '../../../test/support/test-database.ts'
import { until } from '../../../test/support/until.ts'
import { openServers } from '../src/cluster/servers.ts'

let database: TestDatabase
before(async () => {
  database = await openTestDatabase()
})
after(() => database.drop())

test('a standby that refuses the login is logged once, and so is its return', async () => {
  const lines: string[] = []
  const role = `stranger_${process.pid}`
  const servers = await openServers({
    primaries: addressesOf(database.url),
    standbys: addressesOf(database.url.replace('//bursar@', `//${role}@`)),
    parameters: {},
    requireRole: anyRole,
    connectionsMax: 1,
    withinMs: 60_000,
    log: pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) }),
  })
  const ofStandby = () => lines.map((line) => JSON.parse(line)).filter(isOfStandby)
  try {
    const [first, ...others] = ofStandby()
    assert.match(first?.reason ?? '', new RegExp(`^28000: role "${role}" does not exist$`))
    assert.deepEqual(
      [first?.level, first?.msg, others.length],
      [40, 'cannot read from a standby', 0],
    )
    await database.ask(`create role ${role} login in role bursar`)
    await until(() => ofStandby().length > 1)
    assert.deepEqual(
      ofStandby().map(({ msg }) => msg),
      ['cannot read from a standby', 'a standby answers again'],
    )
  } finally {
    await servers.close()
    await database.ask(`drop role ${role}`)
  }
})

const isOfStandby = ({ msg }: { readonly msg: string }) => msg.includes('standby')
