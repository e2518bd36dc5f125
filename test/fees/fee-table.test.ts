import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { scheduleShape } from '../../src/fees/schedule/schedule-shape.ts'
import { document, documentInForce } from './fee-table.ts'

describe('docs/fees.md', () => {
  const text = readFileSync(document, 'utf8')

  it('holds the table of the embedded schedule as it is', () => {
    assert.equal(text, documentInForce(text), 'run: node test/fees/fee-table.ts --write')
  })

  it('names every setting of the fee schedule', () => {
    const networks = Object.values(scheduleShape.properties.networks.properties)
    const keys = [
      ...Object.keys(scheduleShape.properties),
      ...networks.flatMap((network) => Object.keys(network.properties)),
    ]
    const missing = [...new Set(keys)].filter((key) => !text.includes(`\`${key}\``))
    assert.deepEqual(missing, [])
  })
})
