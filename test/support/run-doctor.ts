import assert from 'node:assert/strict'
import type { Finding } from '@bursar/base'
import sample from '../../packages/fees/src/schedule/fee-schedule.json' with { type: 'json' }
import type { Ran } from './run-bursar.ts'

/** A fee schedule whose prices are the operator's, of a day. */
export const healthyFees = (at: number) => ({
  prices_as_of: new Date(at).toISOString().slice(0, 10),
  prices_usd: sample.prices_usd,
})

/** The findings of `doctor --json`, each with the name of its check. */
export async function doctorFindings(
  run: () => Promise<Ran>,
): Promise<readonly (Finding & { readonly check: string })[]> {
  const { code, out, err } = await run()
  const { healthy, checks } = JSON.parse(out)
  assert.equal(code, healthy ? 0 : 1, err)
  type Checked = { name: string; status: string; reason?: string; findings?: Finding[] }
  return checks.flatMap(({ name, status, reason, findings = [] }: Checked) =>
    status === 'unknown'
      ? [{ check: name, what: `not checked: ${reason}`, why: '', fix: '' }]
      : findings.map((finding) => ({ check: name, ...finding })),
  )
}
