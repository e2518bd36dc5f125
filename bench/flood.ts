import { parseArgs } from 'node:util'
import { operatorScopes } from '@bursar/contract'
import { fetchToken } from '../test/support/harness.ts'
import { measureAndExit, openStore } from './measured-store.ts'
import { say } from './report.ts'
import { account, CUSTOMERS, idOf, makeClient } from './world.ts'
import { type LoadResult, runWrk } from './wrk.ts'

/**
 * One writer with one request in flight, alone and beside a flood of 256 in flight:
 *
 *     node bench/flood.ts --store embedded|postgres [--rounds 3] [--seconds 4]
 *
 * The flood is of another client for many customers, or of many clients for one customer.
 */
const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'embedded' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    flood: { type: 'string', default: '256' },
  },
})
const RECORDS = 20_000
const SECONDS = Number(values.seconds)
/** The records that are changed. One comes again after so many requests. */
const WRITTEN = 4000
const CLIENTS = 8

const store = await openStore(values.store, RECORDS)
let round = 0
await measureAndExit(store, measure)

async function measure(): Promise<void> {
  const { config, service } = store
  const tokens: string[] = []
  for (let at = 0; at <= CLIENTS; at += 1) {
    const client = await makeClient(config, { customerId: null, scopes: operatorScopes })
    tokens.push(await fetchToken(service.url, client))
  }
  const [lone = '', ...others] = tokens
  const load = {
    url: service.url,
    headers: { 'content-type': 'application/json' },
    seconds: SECONDS,
  }
  const runLone = () =>
    runWrk({ ...load, tokens: [lone], requests: changes(1, 1, 'customer-lone'), connections: 1 })
  const floods = {
    'another client': { tokens: others.slice(0, 1), requests: changes(2, 1) },
    'another customer': { tokens: others, requests: changes(3, CLIENTS, 'customer-greedy') },
  }
  for (let at = 0; at < Number(values.rounds); at += 1) {
    for (const [name, flood] of Object.entries(floods)) {
      const alone = await runLone()
      const connections = Number(values.flood)
      const [beside, all] = await Promise.all([
        runLone(),
        runWrk({ ...load, ...flood, connections }),
      ])
      const times = (beside.p99 / alone.p99).toFixed(1)
      say(
        `a flood of ${name}, ${Math.round(all.rate)}/s: ${figuresOf(alone)} alone, ${figuresOf(beside)} beside, p99 ${times} times`,
      )
    }
  }
}

function figuresOf({ p50, p99 }: LoadResult): string {
  return `p50 ${p50.toFixed(1)} / p99 ${p99.toFixed(1)} ms`
}

/** Each request changes one of the records of a part, by turns with each of the tokens. */
function changes(part: number, clients: number, customerId?: string) {
  return Array.from({ length: 3 * WRITTEN }, (_, at) => {
    if (at % WRITTEN === 0) round += 1
    const index = part * 1_000_000 + (at % WRITTEN)
    const record = {
      ...account(index, customerId ?? `customer-${index % CUSTOMERS}`),
      metadata: { label: `change ${round}` },
    }
    return {
      path: `/ingest/v1/fiat-accounts/${idOf(index)}`,
      method: 'PUT' as const,
      body: JSON.stringify(record),
      token: at % clients,
    }
  })
}
