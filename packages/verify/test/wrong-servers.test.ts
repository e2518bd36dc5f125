import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { acme, borealis } from '../../../test/support/harness.ts'
import { isLong } from '../../../test/support/long.ts'
import {
  type ControlledSandbox,
  startControlledSandbox,
} from '../../../test/support/sandbox-control.ts'
import type { SampleCustomer } from '../../sandbox/src/sample-records.ts'
import { lawIds } from '../src/laws.ts'
import { allStatements } from '../src/statements/all-statements.ts'
import { type VerifyOptions, verifyTarget } from '../src/verify-target.ts'
import { type Behind, fetchOf, recordAnswers, wronged } from './support/wrong-server.ts'
import { ofEvents } from './support/wrong-servers/events.ts'
import { ofFees } from './support/wrong-servers/fees.ts'
import { ofHttp } from './support/wrong-servers/http.ts'
import { leaks } from './support/wrong-servers/leaks.ts'
import { ofLists } from './support/wrong-servers/lists.ts'
import type { World } from './support/wrong-servers/mutations.ts'
import { ofRecords } from './support/wrong-servers/records.ts'

/**
 * Servers that are wrong in one way each; exactly the statements of that fault may break. A long
 * run checks every statement on each server, the others the groups that the fault belongs to. All
 * share the recorded answers of one correct server, so that no connection is needed.
 */

let service: ControlledSandbox
/** Has as few records as Borealis. */
let foreign: SampleCustomer
let world: World
let answers: ReturnType<typeof recordAnswers>

before(async () => {
  service = await startControlledSandbox()
  foreign = await service.customer({ records: 'sample' })
  world = {
    ownToken: await service.tokenOf(borealis),
    foreignToken: await service.tokenOf(foreign),
    foreignCustomer: foreign.customerId,
  }
  answers = recordAnswers(service.url)
})
after(() => service.stop())

const credentialsOf = ({ clientId, clientSecret }: SampleCustomer) => ({
  id: clientId,
  secret: clientSecret,
})

/** Ids that no record has, the same in each run. */
function countedIds(): () => string {
  let count = 0
  return () => {
    count += 1
    return `ffffffff-0000-4000-8000-${String(count).padStart(12, '0')}`
  }
}

function verifyWith(answer: Behind, over: Partial<VerifyOptions> = {}) {
  const url = 'http://wrong.example'
  return verifyTarget({
    target: url,
    tokenUrl: `${url}/oauth2/token`,
    client: credentialsOf(borealis),
    otherClient: credentialsOf(foreign),
    allowFees: true,
    fetch: fetchOf(answer),
    newId: countedIds(),
    ...over,
  })
}

const groupOf = (id: string): string => id.split('.')[0] ?? ''

const wrongServers = [...leaks, ...ofLists, ...ofRecords, ...ofHttp, ...ofFees, ...ofEvents]

test('the corpus has at least 60 wrong servers, each with its own name', () => {
  assert.ok(wrongServers.length >= 60, String(wrongServers.length))
  assert.equal(new Set(wrongServers.map(({ fault }) => fault)).size, wrongServers.length)
})

test('each statement is broken by a server', () => {
  const named = new Set(wrongServers.flatMap(({ breaks }) => breaks))
  // packages/verify/test/verify-sources.test.ts and verify-limits.test.ts break these.
  const elsewhere = ['answers.complete', 'answers.decodable']
  assert.deepEqual(
    allStatements.map(({ id }) => id).filter((id) => !named.has(id)),
    elsewhere,
  )
})

test('each law has a check', () => {
  const checked = new Set(allStatements.map(({ id, law = id }) => law))
  assert.deepEqual(
    lawIds.filter((id) => !checked.has(id)),
    [],
  )
})

test('a correct server breaks no statement, so that each fault is its own', async () => {
  const results = await verifyWith(answers.forRun())
  const others = results.filter(({ verdict }) => verdict !== 'held')
  assert.deepEqual(
    others.map(({ id, verdict, notes }) => ({ id, verdict, notes })),
    [
      {
        id: 'answers.retry-after',
        verdict: 'not testable',
        notes: ['no answer was 429 or 503'],
      },
    ],
    JSON.stringify(others, null, 1),
  )
})

describe('names a server that', () => {
  for (const { fault, breaks, wrong, client, only } of wrongServers) {
    test(fault, async () => {
      const made = typeof wrong === 'function' ? wrong(world) : wrong
      const results = await verifyWith(wronged(answers.forRun(), made), {
        ...(!isLong && { only: breaks.map(groupOf) }),
        ...(only !== undefined && { only }),
        ...(client === 'acme' && { client: credentialsOf(acme) }),
      })
      const broken = results.filter(({ verdict }) => verdict === 'broken')
      assert.deepEqual(
        broken.map(({ id }) => id).toSorted(),
        breaks.toSorted(),
        JSON.stringify(broken, null, 1),
      )
    })
  }
})
