import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY_MICROS, largest, parseDecimal, parseInstant } from '@bursar/base'
import { type RecordInput, resources } from '@bursar/contract'
import { rules } from '../../../test/support/record-store.ts'
import { recordCheck } from '../../intake/src/check.ts'
import { currentRecords, displayNames, sampleLives, worldLives } from '../src/sample-records.ts'

const microsOf = (text: unknown) => parseInstant(String(text))?.micros ?? 0n
const now = microsOf('2026-11-25T21:20:00Z')
const lives = sampleLives(now)
const records = currentRecords(lives)
const isFixed = ({ customer_id: customer }: RecordInput) =>
  ['acme', 'borealis'].includes(String(customer))

test('every version of the sample records is one that an import takes', () => {
  for (const resource of resources) {
    const check = recordCheck(resource, rules)
    for (const { record } of lives[resource.kind].flat()) {
      const json = JSON.stringify(record)
      assert.deepEqual(check(record), { record, json }, `${resource.kind} ${record.id}`)
    }
  }
})

test('the records of Acme and Borealis are the same at any time, and the others end with it', () => {
  const later = now + 37n * DAY_MICROS
  for (const { kind } of resources) {
    const fixed = sampleLives(later)[kind].filter(([first]) => first && isFixed(first.record))
    assert.deepEqual(fixed, worldLives()[kind], kind)
    const others = (at: bigint) =>
      sampleLives(at)[kind].filter(([one]) => one && !isFixed(one.record))
    assert.deepEqual(others(later), others(later), kind)
    for (const at of [now, later]) {
      const newest = others(at)
        .flat()
        .map((version) => version.at)
      const last = largest(...(newest as [bigint, ...bigint[]]))
      assert.ok(last <= at && (kind === 'statements' || at - last < DAY_MICROS), `${kind} ${at}`)
    }
  }
})

test('no version is older than the one before it, and none has its time', () => {
  for (const life of Object.values(lives).flat()) {
    for (const [place, { at }] of life.entries()) {
      const next = life[place + 1]
      if (next !== undefined) assert.ok(at < next.at, String(next.record.id))
    }
  }
})

test('a dozen customers have names', () => {
  const customers = new Set(
    Object.values(records)
      .flat()
      .map((record) => record.customer_id),
  )
  assert.deepEqual([...customers].toSorted(), Object.keys(displayNames).toSorted())
  assert.equal(customers.size, 12)
})

test('every address has an identity', () => {
  for (const address of records['deposit-addresses']) {
    assert.ok(typeof address.identity_id === 'string', String(address.id))
  }
})

type Statement = RecordInput & {
  readonly statement_balances: readonly { amount_paid: string; total_amount_owed: string }[]
}

function unitsOf(amount: string): bigint {
  const parsed = parseDecimal(amount, 6)
  assert.ok('units' in parsed, amount)
  return parsed.units
}

describe('the sample statements', () => {
  const statements = records.statements as readonly Statement[]
  const shortOf = ({ statement_balances: balances }: Statement) =>
    balances.some((of) => unitsOf(of.amount_paid) < unitsOf(of.total_amount_owed))

  test('owe more than they have paid, or as much', () => {
    for (const { id, status, statement_balances: balances } of statements) {
      for (const { amount_paid: paid, total_amount_owed: owed } of balances) {
        assert.ok(unitsOf(owed) > 0n && unitsOf(paid) <= unitsOf(owed), String(id))
        if (/INITIATED|GENERATED/.test(String(status))) assert.equal(paid, '0', String(id))
      }
    }
  })

  test('of past periods are mostly paid; some were paid in part, and some wait for months', () => {
    const paid = statements.filter(({ status }) => status === 'STATEMENT_STATUS_PAID')
    assert.ok(paid.length > 0.9 * statements.length)
    const inPart = paid.filter(shortOf)
    assert.ok(inPart.length >= 10 && inPart.length < 0.1 * paid.length, String(inPart.length))
    const waiting = statements.filter(
      (one) => one.status === 'STATEMENT_STATUS_GENERATED' && shortOf(one),
    )
    assert.ok(waiting.some((one) => now - microsOf(one.period_end) > 90n * DAY_MICROS))
  })

  test('have another order by creation than by period', () => {
    const acme = statements.filter((one) => one.customer_id === 'acme')
    const late = acme.filter((one) => microsOf(one.created_at) !== microsOf(one.period_end))
    assert.equal(late.length, 1)
    const ordered = (member: string) =>
      acme.toSorted((one, other) => Number(microsOf(one[member]) - microsOf(other[member])))
    assert.notDeepEqual(ordered('created_at'), ordered('period_start'))
  })
})

test('some quotes have failed since yesterday, and some wait', () => {
  const recent = records['issuer-quote-executions'].filter(
    (one) => now - microsOf(one.created_at) < DAY_MICROS,
  )
  const statuses = recent.map(({ status }) => status)
  for (const status of ['FAILED', 'PENDING', 'COMPLETE']) {
    assert.ok(statuses.filter((one) => one === status).length >= 3, status)
  }
})

describe('the banks', () => {
  const texts = [
    ...new Set(JSON.stringify(records).match(/"(account_number|routing_number)":"[^"]+"/g) ?? []),
  ].map((text) => text.split('"')[3] ?? '')

  test('have IBANs with valid check digits', () => {
    const ibans = texts.filter((text) => /^[A-Z]{2}\d{18,}$/.test(text))
    assert.ok(ibans.length > 50)
    for (const iban of ibans) {
      const moved = `${iban.slice(4)}${iban.slice(0, 4)}`
      const digits = [...moved].map((character) => Number.parseInt(character, 36)).join('')
      assert.equal(BigInt(digits) % 97n, 1n, iban)
    }
  })

  test('are none that exists', () => {
    const numbers = JSON.stringify(records).matchAll(/"routing_number":"([^"]+)"/g)
    for (const number of new Set([...numbers].map(([, found = '']) => found))) {
      // ABA numbers from 80 on are of traveller’s cheques. A SWIFT code with 0 in the eighth place
      // is a test's.
      assert.match(number, /^(80\d{7}|[A-Z]{7}0XXX)$/)
    }
  })
})
