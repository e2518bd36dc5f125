import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { note, rounded } from './figure.ts'
import type { RequestCosts } from './support/measure-request-costs.ts'

/** What the largest request of every shape costs the event loop, beside its page. */

const program = new URL('./support/measure-request-costs.ts', import.meta.url).pathname

test('the largest request of every shape', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  const costs: RequestCosts = JSON.parse(stdout)
  const groups = [
    ['before authentication', costs.beforeAuthentication, 1],
    ['of a customer', costs.ofCustomers, 2],
  ] as const
  for (const [group, shapes, goal] of groups) {
    for (const [shape, ms] of Object.entries(shapes)) {
      note(t, { name: `${group}: ${shape}`, value: rounded(ms), unit: 'ms of the loop', goal })
    }
  }
})
