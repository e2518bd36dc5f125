import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { systemMs } from '../../../test/support/until.ts'
import { aQuote, idOf, wallet } from '../../records/test/support/quotes.ts'
import { openSqliteFeeQuotes } from '../../sqlite/src/fee-quotes.ts'

const folder = temporaryFolder()
const store = `sqlite:${join(folder, 'bursar.db')}`
const run = (...words: string[]) => runBursar(store, words)
const second = 1_000_000n
const now = (BigInt(systemMs()) / 1000n) * second
const printed = (at: bigint) => new Date(Number(at / 1000n)).toISOString().replace('.000', '')

before(async () => {
  await run('migrate')
  const quotes = openSqliteFeeQuotes(join(folder, 'bursar.credentials.db'), () => now)
  await Promise.all([
    quotes.customers.issue(asTenant('acme'), aQuote({ id: idOf(1) }), 10),
    quotes.customers.issue(asTenant('acme'), aQuote({ id: idOf(2), lifeSeconds: 0 }), 10),
  ])
  await quotes.close()
})
after(() => rmSync(folder, { recursive: true, force: true }))

const consumeWords = (id: string, over: Readonly<Record<string, string>> = {}) => [
  'fee',
  'consume',
  id,
  ...Object.entries({
    customer: 'acme',
    asset: 'USDC',
    network: 'ETHEREUM',
    address: wallet,
    amount: '100',
    withdrawal: 'payout-7',
    ...over,
  }).flatMap(([name, value]) => [`--${name}`, value]),
]

describe('fee consume and fee show', () => {
  test('consume a fee once and show its state', async () => {
    const first = await run(...consumeWords(idOf(1)), '--json')
    const { consumed_at, ...answered } = JSON.parse(first.out)
    assert.equal(first.code, 0)
    assert.match(consumed_at, /^\d{4}-\d\d-\d\dT.*Z$/)
    assert.deepEqual(answered, {
      id: idOf(1),
      customer_id: 'acme',
      asset: 'USDC',
      crypto_network: 'ETHEREUM',
      destination_address: wallet,
      amount: '100',
      fee: '2.99',
      total: '102.99',
      created_at: printed(now),
      expires_at: printed(now + 600n * second),
      withdrawal: 'payout-7',
    })
    const [again, shown] = [
      await run(...consumeWords(idOf(1)), '--json'),
      await run('fee', 'show', idOf(1), '--json'),
    ]
    assert.equal(again.out, first.out)
    assert.deepEqual(JSON.parse(shown.out), { ...JSON.parse(first.out), state: 'CONSUMED' })
    const other = await run(...consumeWords(idOf(1), { withdrawal: 'payout-8' }), '--json')
    assert.equal(other.code, 1)
    assert.deepEqual(JSON.parse(other.out), {
      refused: 'taken',
      detail: 'the fee was consumed by another withdrawal',
      withdrawal: 'payout-7',
      consumed_at,
    })
  })

  test('print the reason of a refusal and exit with 1', async () => {
    const expired = await run(...consumeWords(idOf(2)))
    assert.equal(expired.code, 1)
    assert.match(expired.err, /^the fee was guaranteed until /)
    const mismatched = await run(...consumeWords(idOf(2), { amount: '99' }))
    assert.equal(mismatched.code, 1)
    assert.match(mismatched.err, /amount differ .*"amount":"100"/)
    const foreign = await run(...consumeWords(idOf(2), { customer: 'borealis' }))
    assert.deepEqual([foreign.code, foreign.out], [1, ''])
    assert.equal(foreign.err, `no guaranteed fee found for id: '${idOf(2)}'\n`)
    const unknown = await run('fee', 'show', idOf(3))
    assert.deepEqual(unknown, { code: 1, out: '', err: `There is no fee ${idOf(3)}.\n` })
  })

  test('exit with 2 for wrong usage', async () => {
    for (const words of [
      ['fee', 'show', '7'],
      ['fee', 'consume', idOf(1)],
      consumeWords(idOf(1), { amount: '1e3' }),
      consumeWords(idOf(1), { network: 'DOGECOIN' }),
      consumeWords(idOf(1), { asset: 'A'.repeat(201) }),
    ]) {
      const ran = await run(...words)
      assert.deepEqual([ran.code, ran.out], [2, ''], words.join(' '))
    }
  })
})

describe('fee check-address', () => {
  test('prints the kind and the canonical form of a valid address', async () => {
    const ran = await run('fee', 'check-address', 'ETHEREUM', wallet.toLowerCase(), '--json')
    assert.equal(ran.code, 0)
    assert.deepEqual(JSON.parse(ran.out), { valid: true, kind: 'evm', canonical: wallet })
  })

  test('prints the reason for an invalid address without quoting it', async () => {
    const seed = 'SAV76USXIJOBMEQXPANUOQM6F5LIOTLPDIDVRJBFFE2MDJXG24TAPUU7'
    const ran = await run('fee', 'check-address', 'STELLAR', seed)
    assert.deepEqual([ran.code, ran.out], [1, ''])
    assert.match(ran.err, /^not valid on STELLAR: .* \(secret_key\)\n$/)
    assert.doesNotMatch(ran.err, /SAV76/)
    assert.equal((await run('fee', 'check-address', 'DOGECOIN', 'x')).code, 2)
  })
})

describe('fee schedule', () => {
  test('prints the schedule in force, with the operator’s overrides', async () => {
    const path = join(folder, 'fees.json')
    writeFileSync(
      path,
      JSON.stringify({
        as_of: new Date().toISOString().slice(0, 10),
        networks: { BITCOIN: { margin_bp: 0 } },
      }),
    )
    process.env.BURSAR_FEE_SCHEDULE = path
    const ran = await run('fee', 'schedule', '--json')
    const table = await run('fee', 'schedule')
    delete process.env.BURSAR_FEE_SCHEDULE
    const [bitcoin, , usdc] = JSON.parse(ran.out).fees
    const { age_s, ...rest } = bitcoin
    assert.ok(age_s >= 0 && age_s < 86_400)
    assert.deepEqual(rest, {
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      enabled: true,
      decimals: 8,
      margin_bp: 0,
      minimum: '0.00000294',
      cost: '0.0000209',
      cost_asset: 'BTC',
      fee: '0.0000209',
      source: 'schedule',
    })
    assert.equal(usdc.unavailable, 'sample-not-accepted', 'its price is nobody’s but the sample’s')
    assert.match(table.out, /^asset +network +decimals +cost +margin +fee +source +age\n/)
    assert.match(table.out, /^BTC +BITCOIN +8 +0.0000209 BTC +0 % +0.0000209 +schedule +\d+ s$/m)
  })

  test('names every fault of the document and exits with 2', async () => {
    const path = join(folder, 'broken.json')
    writeFileSync(path, JSON.stringify({ networks: { BITCOIN: { margin_bp: -1 } }, colour: 'red' }))
    process.env.BURSAR_FEE_SCHEDULE = path
    const ran = await run('fee', 'schedule')
    delete process.env.BURSAR_FEE_SCHEDULE
    assert.equal(ran.code, 2)
    assert.match(ran.err, /margin_bp/)
    assert.match(ran.err, /colour/)
  })
})

describe('client create --operator', () => {
  test('creates a client without a customer, with ingest scopes only', async () => {
    const words = ['client', 'create', '--operator', '--name', 'Payouts']
    const made = await run(...words, '--scope', 'ingest:consume_fee', '--json')
    const { client_id, client_secret, ...rest } = JSON.parse(made.out)
    assert.match(client_id, /^client_/)
    assert.match(client_secret, /^bursar_secret_/)
    assert.deepEqual(rest, { customer_id: null, name: 'Payouts', scope: 'ingest:consume_fee' })
    assert.equal((await run(...words)).code, 2)
    assert.equal((await run(...words, '--customer', 'acme', '--scope', 'x')).code, 1)
    const bound = await run(...words, '--customer', 'acme', '--scope', 'ingest:search', '--json')
    const { customer_id, bound_to } = JSON.parse(bound.out)
    assert.deepEqual([customer_id, bound_to], [null, 'acme'])
    assert.equal((await run(...words, '--scope', 'transfer:read_fiat_account')).code, 1)
    const customers = ['client', 'create', '--customer', 'acme', '--name', 'Acme']
    assert.equal((await run(...customers, '--scope', 'ingest:consume_fee')).code, 1)
  })
})

describe('fee-schedule check', () => {
  const check = (document: object, ...words: string[]) => {
    const path = join(folder, 'checked.json')
    writeFileSync(path, JSON.stringify(document))
    return run('fee-schedule', 'check', path, ...words)
  }

  test('says since when and until when costs and prices serve', async () => {
    const at = systemMs() - 86_400_000
    const day = new Date(at).toISOString().slice(0, 10)
    const { code, out } = await check({ as_of: day })
    assert.equal(code, 0)
    const [costs, prices, ...others] = out.trimEnd().split('\n')
    assert.deepEqual(others, [])
    const until = new Date(Date.parse(day) + 90 * 86_400_000).toISOString()
    assert.equal(costs, `costs of the operator: serve, since ${day}T00:00:00.000Z, until ${until}`)
    assert.match(String(prices), /^prices of the sample, as of [\d-]+: do not serve$/)
    const document = JSON.parse((await check({ as_of: '2020-01-01' }, '--json')).out)
    assert.deepEqual(document.faults, [])
    assert.deepEqual(
      [document.costs.of, document.costs.serves, document.costs.serves_since],
      ['operator', false, '2020-01-01T00:00:00.000Z'],
    )
    assert.deepEqual([document.prices.of, document.prices.serves], ['sample', false])
  })

  test('names every fault, with exit code 1', async () => {
    const { code, out, err } = await check({ colour: 'red', networks: { BITCOIN: { inputs: -1 } } })
    assert.deepEqual([code, out], [1, ''])
    const lines = err.trimEnd().split('\n')
    assert.equal(lines.length, 2, err)
    for (const line of lines) assert.match(line, /checked\.json: /)
    const missing = await run('fee-schedule', 'check', join(folder, 'nowhere.json'), '--json')
    assert.equal(missing.code, 1)
    assert.match(String(JSON.parse(missing.out).faults), /cannot be read: there is no such file/)
  })
})
