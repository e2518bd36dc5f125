import { after, before } from 'node:test'
import { openPostgresTestStore } from '../../../../test/support/record-store.ts'
import { addressesOf } from '../../../../test/support/test-database.ts'
import { hexOf, openConnection } from '../../../postgres/src/driver/connection.ts'
import { readingSessions } from '../../../postgres/src/driver/sessions.ts'
import type { Statement, Value } from '../../src/session.ts'

export type Plans = ReturnType<typeof openPlans>

type Opened = {
  readonly tested: Awaited<ReturnType<typeof openPostgresTestStore>>
  readonly plans: Plans
}

/** The empty store of a file's tests, and the plans of the operator's statements in it. */
export function describePlans() {
  let opened: Opened | undefined
  const running = (): Opened => {
    if (opened === undefined) throw new Error('the store is open in tests and hooks only')
    return opened
  }
  before(async () => {
    const tested = await openPostgresTestStore()
    opened = { tested, plans: openPlans(tested.database.operatorUrl) }
  })
  after(async () => {
    await opened?.plans.close()
    await opened?.tested.close()
  })
  return {
    get tested() {
      return running().tested
    },
    explain: (...asked: Parameters<Plans['explain']>) => running().plans.explain(...asked),
  }
}

/** Explains the prepared statements of a role, in a session like those of a server. */
export function openPlans(url: string) {
  const [address] = addressesOf(url)
  if (address === undefined) throw new Error('the URL names no server')
  const parameters = readingSessions(60_000)
  const session = openConnection(address, { parameters, connectTimeoutMs: 60_000 })
  return {
    /** The lines that EXPLAIN prints. */
    explain: async ({ text, values = [] }: Statement, options = 'costs off'): Promise<string[]> => {
      await session.execute(`deallocate all; prepare asked as ${text}`)
      const execute = `execute asked (${values.map(literal).join(', ')})`
      const rows = await session.query({ text: `explain (${options}) ${execute}` })
      return rows.map(([line]) => String(line))
    },
    close: () => session.close(),
  }
}

function literal(value: Value): string {
  if (value instanceof Uint8Array) return `'${hexOf(value)}'`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
