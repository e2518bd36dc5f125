import { callUrl } from '../test/support/harness.ts'
import { type Listening, startProcess } from '../test/support/server-process.ts'
import { measure } from './distribution.ts'
import { measureMockServers } from './mock-servers.ts'

/**
 * How long a sandbox takes to start, to create a customer, and to save and restore its state, as
 * its tests see it over HTTP. Prints the distribution of each. With MOCKS, a folder that has Prism
 * and json-server, it starts these too.
 */
const STARTS = Number(process.env.STARTS ?? 5)
const CALLS = Number(process.env.CALLS ?? 100)

if (process.env.MOCKS !== undefined) await measureMockServers(process.env.MOCKS, STARTS)
const start = () => startProcess(['packages/cli/src/main.ts', 'sandbox', '--json', '--port', '0'])

await measure('start', STARTS, async () => (await start()).stop)
const sandbox = await start()
await measure('save a snapshot', 20, async () => dropped(await saved(sandbox)))
const snapshot = await saved(sandbox)
await measure('restore it', 20, () => post(sandbox, `/sandbox/snapshots/${snapshot}/restore`))
await measure('customer, empty', CALLS, () => post(sandbox, '/sandbox/customers'))
await measure('customer, with sample records', CALLS, () =>
  post(sandbox, '/sandbox/customers', '{"records":"sample"}'),
)
await measure('restore the first state from there', 1, () =>
  post(sandbox, `/sandbox/snapshots/${snapshot}/restore`),
)
await sandbox.stop()

async function post({ url }: Listening, path: string, body?: string) {
  const called = await callUrl(`${url}${path}`, { method: 'POST', ...(body && { body }) })
  if (called.status >= 300) throw new Error(`${path} answers ${called.status}: ${called.text}`)
  return called
}

async function saved(at: Listening): Promise<string> {
  return (await post(at, '/sandbox/snapshots')).body.id
}

function dropped(id: string): () => Promise<unknown> {
  return () => callUrl(`${sandbox.url}/sandbox/snapshots/${id}`, { method: 'DELETE' })
}
