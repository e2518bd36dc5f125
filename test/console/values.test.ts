import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressLines } from '../../console/src/values/addresses.ts'
import {
  compareAmounts,
  grouped,
  splitAmount,
  subtract,
  thousandthsOf,
} from '../../console/src/values/amounts.ts'
import { countryName } from '../../console/src/values/countries.ts'
import { inFours, isIban, lastFour, shortAddress, shortId } from '../../console/src/values/ids.ts'
import { labelOfPath, wordOf } from '../../console/src/values/labels.ts'
import {
  ageText,
  exactTime,
  longTime,
  periodText,
  shortTime,
} from '../../console/src/values/times.ts'

/** How the console prints what the API answers. */

test('an amount keeps its digits, in groups, and is never rounded', () => {
  const texts = [
    ['.5', '0.5'],
    ['00.5', '0.5'],
    ['0', '0'],
    ['-0.00', '0'],
    ['1000', '1,000'],
    ['232117.50', '232,117.5'],
    ['-1234567.000000000000000001', '−1,234,567.000000000000000001'],
    ['99999999999999999999.123456789', '99,999,999,999,999,999,999.123456789'],
    ['no amount', 'no amount'],
  ] as const
  for (const [given, shown] of texts) assert.equal(grouped(given), shown, given)
  assert.deepEqual(splitAmount('8346.522046'), { whole: '8,346', fraction: '.522046' })
})

test('amounts are subtracted and compared exactly', () => {
  assert.equal(subtract('0.3', '0.1'), '0.2')
  assert.equal(subtract('1', '1.000000000000000001'), '-0.000000000000000001')
  assert.equal(compareAmounts('10', '9.999999999999999999'), 1)
  assert.equal(compareAmounts('.50', '0.5'), 0)
  assert.equal(thousandthsOf('1', '3'), 333)
  assert.equal(thousandthsOf('5', '0'), 0)
})

test('a time is as long as its place needs, and its title has seconds and zone', () => {
  const clock = { isUtc: true, now: new Date('2026-11-25T22:00:00Z') }
  assert.equal(shortTime('2026-11-25T02:11:07Z', clock), '02:11')
  assert.equal(shortTime('2026-11-21T02:11:07Z', clock), '21 Nov, 02:11')
  assert.equal(shortTime('2025-11-21T02:11:07Z', clock), '21 Nov 2025')
  assert.equal(longTime('2026-05-02T09:14:00Z', clock), '2 May 2026, 09:14')
  assert.equal(longTime('2026-11-25T02:11:07Z', clock), 'Today, 02:11')
  assert.equal(exactTime('2026-05-02T09:14:07.5Z', true), '2 May 2026, 09:14:07 UTC')
  assert.equal(ageText('2026-11-03T21:00:00Z', clock.now), '22 days ago')
  assert.equal(ageText('2026-11-25T21:59:00Z', clock.now), '1 minute ago')
})

test('a whole month is a period of one word, and another period names its days', () => {
  const midnight = (day: string) => `${day}T00:00:00Z`
  const periods = [
    ['2026-10-01', '2026-11-01', 'Oct 2026'],
    ['2026-10-01', '2026-10-16', '1–15 Oct 2026'],
    ['2026-09-16', '2026-10-16', '16 Sep – 15 Oct 2026'],
    ['2025-12-16', '2026-01-16', '16 Dec 2025 – 15 Jan 2026'],
    ['2026-10-05', '2026-10-06', '5 Oct 2026'],
  ] as const
  for (const [start, end, shown] of periods) {
    assert.equal(periodText(midnight(start), midnight(end)), shown)
  }
})

test('an address has the lines of an envelope of its country', () => {
  const boston = {
    country: 'USA',
    address1: '20 Harbour Way',
    city: 'Boston',
    province: 'MA',
    zip_code: '02110',
  }
  assert.deepEqual(addressLines(boston), ['20 Harbour Way', 'Boston, MA 02110', 'United States'])
  const hamburg = {
    country: 'DEU',
    address1: 'Speicherstieg 21',
    city: 'Hamburg',
    zip_code: '20457',
  }
  assert.deepEqual(addressLines(hamburg), ['Speicherstieg 21', '20457 Hamburg', 'Germany'])
  const london = { country: 'GB', address1: '1 Wharf Road', city: 'London', zip_code: 'E1W 1AA' }
  assert.deepEqual(addressLines(london), ['1 Wharf Road', 'London', 'E1W 1AA', 'United Kingdom'])
  assert.deepEqual(addressLines({ country: 'USA' }), ['United States'])
  assert.equal(countryName('Atlantis'), 'Atlantis')
  assert.deepEqual(['gb', 'CIV', 'TUR'].map(countryName), [
    'United Kingdom',
    'Côte d’Ivoire',
    'Türkiye',
  ])
})

test('ids are short in lists, and a masked number keeps what the server left of it', () => {
  assert.equal(shortId('12b8d131-9fb4-49c2-ada0-d111c35dd757'), '12b8d131…d757')
  assert.equal(shortAddress('0x653023DB5bf3e30b3564B87F756fDD850CE756A2'), '0x6530…56A2')
  assert.equal(lastFour('XXXXXX8846'), '···8846')
  assert.equal(lastFour('5730008846'), '···8846')
  assert.equal(lastFour('XXXX'), 'hidden')
  assert.equal(lastFour('0042'), '0042')
  assert.equal(lastFour('DE89 3704 0044 0532 0130 00'), '···3000')
  assert.ok(isIban('DE89370400440532013000') && !isIban('5730008846'))
  assert.equal(inFours('DE8937040044'), 'DE89 3704 0044')
})

test('members and constants of the API have words', () => {
  const path = 'fiat_network_instructions.wire.routing_details.bank_address.address1'
  assert.equal(labelOfPath(path), 'Wire: Bank: Address of the bank: Street')
  assert.equal(labelOfPath('metadata.cost_centre'), 'cost_centre')
  assert.equal(wordOf('STATEMENT_TYPE_USDG_REWARD'), 'USDG reward')
  assert.equal(wordOf('ARBITRUM_ONE'), 'Arbitrum One')
  assert.equal(wordOf('STATEMENT_STATUS_GENERATED'), 'Generated')
})
