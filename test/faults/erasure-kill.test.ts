import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { isLong } from '../support/long.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { embedded, type Place, postgres } from './support/places.ts'

/** What is left of a customer when its erasure is killed, and run again. */

const MOMENTS = isLong ? 30 : 5
const RECORDS = 5000

const linesOf = (customer: string, first: number, count: number): string =>
  Array.from({ length: count }, (_, at) =>
    JSON.stringify(
      aFiatAccount({ id: anId(first + at), customer_id: customer, ref_id: `${customer}-${at}` }),
    ),
  ).join('\n')

async function run({ env }: Place, words: readonly string[], stdin?: string): Promise<string> {
  const options = { env, ...(stdin !== undefined && { stdin }) }
  const { code, output, errors } = await runProgram(words, options)
  assert.equal(code, 0, errors)
  return output
}

async function countOf({ ask }: Place, customer: string): Promise<readonly number[]> {
  const number = `(select number from bursar.customer where id = '${customer}')`
  const tables = ['fiat_account', 'fiat_account_full', 'extent', 'former_value']
  const counts = tables.map((table) =>
    ask(`select count(*) from bursar.${table} where customer = ${number}`),
  )
  return (await Promise.all(counts)).map(([row]) => Number(row?.[0]))
}

for (const [engine, open] of [
  ['the embedded store', embedded],
  ['PostgreSQL', postgres],
] as const) {
  describe(engine, () => {
    test('has whole records after each kill -9 of an erasure, and none after the last run', async () => {
      const place = await open()
      try {
        if (place.superuserUrl === undefined) await run(place, ['migrate'])
        await run(place, ['import', 'fiat-accounts', '-'], linesOf('acme', 1, RECORDS))
        await run(place, ['import', 'fiat-accounts', '-'], linesOf('borealis', 90_001, 10))
        const erase = ['customer', 'erase', 'acme', '--yes', '--json']
        const seen: number[] = []
        for (let moment = 0; moment < MOMENTS; moment += 1) {
          const program = startProgram(erase, { env: place.env })
          // At whatever moment it is killed, the store must have whole records.
          await passing(randomInt(200, 1500))
          await program.kill('SIGKILL')
          const [listed = 0, full] = await countOf(place, 'acme')
          assert.equal(listed, full)
          seen.push(listed)
        }
        await run(place, erase)
        assert.deepEqual(await countOf(place, 'acme'), [0, 0, 0, 0])
        assert.deepEqual((await countOf(place, 'borealis')).slice(0, 2), [10, 10])
        const { erasures } = JSON.parse(await run(place, ['customer', 'erasures', '--json']))
        assert.deepEqual(
          erasures.map((one: { erased_at: string | null }) => one.erased_at === null),
          [false],
          `records left after each kill: ${seen.join(', ')}`,
        )
      } finally {
        await place.remove()
      }
    })
  })
}
