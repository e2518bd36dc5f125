import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import embedded from '../src/schedule/fee-schedule.json' with { type: 'json' }
import { document, documentInForce } from './fee-table.ts'

describe('docs/fees.md', () => {
  const text = readFileSync(document, 'utf8')

  it('contains the current table of the embedded schedule', () => {
    assert.equal(text, documentInForce(text), 'run: node packages/fees/test/fee-table.ts --write')
  })

  it('names every setting of the fee schedule', () => {
    const networks: readonly object[] = Object.values(embedded.networks)
    const keys = [...Object.keys(embedded), ...networks.flatMap((network) => Object.keys(network))]
    const missing = [...new Set(keys)].filter((key) => !text.includes(`\`${key}\``))
    assert.deepEqual(missing, [])
  })
})
