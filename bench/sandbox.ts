import { createHistogram } from 'node:perf_hooks'
import { callUrl } from '../test/support/harness.ts'
import { type Listening, startProcess } from './process.ts'

/**
 * How long a sandbox takes to start, to create a customer, and to save and restore its state, as
 * its tests see it over HTTP. Prints the distribution of each.
 */
const STARTS = Number(process.env.STARTS ?? 5)
const CALLS = Number(process.env.CALLS ?? 100)

const start = () => startProcess(['src/main.ts', 'sandbox', '--json', '--port', '0'])

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

type After = (() => Promise<unknown>) | object

/** Times the calls one after the other. What a call returns as a function is not timed. */
async function measure(name: string, times: number, call: () => Promise<After>): Promise<void> {
  const micros = createHistogram()
  for (let at = 0; at < times; at += 1) {
    const startedAt = performance.now()
    const after = await call()
    micros.record(Math.max(1, Math.round((performance.now() - startedAt) * 1000)))
    if (typeof after === 'function') await after()
  }
  const ms = (value: number) => `${(value / 1000).toFixed(1)} ms`.padStart(10)
  const told = [micros.min, micros.percentile(50), micros.percentile(90), micros.max].map(ms)
  process.stdout.write(`${name.padEnd(36)} ${told.join('')}  of ${times}: least, p50, p90, most\n`)
}

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
