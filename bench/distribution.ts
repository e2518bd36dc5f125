import { createHistogram } from 'node:perf_hooks'

type After = (() => Promise<unknown>) | object

/**
 * Times the calls one after the other. What a call returns as a function is not timed, and neither
 * is `prepare`, whose result the call gets.
 */
export async function measure<G = undefined>(
  name: string,
  times: number,
  call: (given: G) => Promise<After>,
  prepare: () => Promise<G> = async () => undefined as G,
): Promise<void> {
  const micros = createHistogram()
  for (let at = 0; at < times; at += 1) {
    const given = await prepare()
    const startedAt = performance.now()
    const after = await call(given)
    micros.record(Math.max(1, Math.round((performance.now() - startedAt) * 1000)))
    if (typeof after === 'function') await after()
  }
  const ms = (value: number) => `${(value / 1000).toFixed(1)} ms`.padStart(10)
  const told = [micros.min, micros.percentile(50), micros.percentile(90), micros.max].map(ms)
  process.stdout.write(`${name.padEnd(36)} ${told.join('')}  of ${times}: least, p50, p90, most\n`)
}
