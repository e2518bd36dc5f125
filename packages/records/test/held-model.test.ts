import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { RecordInput } from '@bursar/contract'
import { isLong } from '../../../test/support/long.ts'
import { openTestStore, resourceOf, type TestStore } from '../../../test/support/record-store.ts'
import { aDepositAddress, someDepositInstructions } from '../../../test/support/records.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { type Seeded, seeded } from '../../server/test/model/model.ts'
import { putOne } from './support/put-one.ts'

/** Ten thousand in a long run; a step takes ten times as long on PostgreSQL. */
const SEQUENCES = (isLong ? 10_000 : 100) / (testStore === 'postgres' ? 10 : 1)
const STEPS = 25
/** Replays one. */
const replayed = process.env.BURSAR_MODEL_SEED

let tested: TestStore
before(async () => {
  tested = await openTestStore()
})
after(() => tested.close())

const kinds = ['deposit-addresses', 'fiat-deposit-instructions'] as const
type Kind = (typeof kinds)[number]

const family = ['ETHEREUM', 'BASE', 'INK', 'POLYGON_POS'] as const
const CUSTOMERS = 3
const IDS = 5
const VALUES = 3

/** What a record says that only one customer may say. */
type Content = { readonly value: string; readonly places: readonly string[] }
/** A record of one customer. One that has lost its id to another customer keeps nothing. */
type Row = Content & {
  readonly customer: string
  readonly id: string
  isLive: boolean
  hasId: boolean
  wire: string
}

type Run = {
  readonly seed: number
  readonly random: Seeded
  readonly kind: Kind
  /** Replaced as a whole, so that a change may be tried. */
  rows: readonly Row[]
}

type Sent = { readonly row: Row; readonly input: RecordInput }

function draw({ seed, random, kind }: Run, id = random.below(IDS)): Sent {
  const customer = `held-${seed}-${random.below(CUSTOMERS)}`
  const name = `${seed.toString(16).padStart(8, '0')}-0000-4000-8000-${String(id).padStart(12, '0')}`
  const mark = `${seed} ${random.below(VALUES)}`
  const base = { id: name, customer_id: customer, profile_id: `p${random.below(2)}` }
  const networks = family.filter(() => random.chance(40))
  const own = random.pick(family)
  const input =
    kind === 'deposit-addresses'
      ? aDepositAddress({
          ...base,
          crypto_network: own,
          address: `0x${hash('sha256', mark).slice(0, 40)}`,
          compatible_crypto_networks: networks,
        })
      : someDepositInstructions({
          ...base,
          memo_id: hash('sha256', mark).slice(0, 16).toUpperCase(),
        })
  const named = networks.includes(own) ? networks : [own, ...networks]
  const places = kind === 'deposit-addresses' ? named : ['memo_id']
  const wire = JSON.stringify({ ...input, places, compatible_crypto_networks: [] })
  const row = { customer, id: name, value: mark, places, isLive: true, hasId: true, wire }
  return { row, input }
}

const drawSome = (run: Run): readonly Sent[] => {
  const first = run.random.below(IDS)
  const ids = [...Array(IDS).keys()].filter((id) => id === first || run.random.chance(50))
  return ids.map((id) => draw(run, id))
}

const meet = (one: Content, other: Content): boolean =>
  one.value === other.value && one.places.some((place) => other.places.includes(place))

const isSame = (one: Row, other: Row) => one.id === other.id && one.customer === other.customer

/** What becomes of the records if these are stored together; undefined if they are refused. */
function stored({ kind, rows }: Run, sent: readonly Row[], takeOver: boolean): Row[] | undefined {
  const isOfMemo = kind === 'fiat-deposit-instructions'
  const ids = sent.map(({ id }) => id)
  const clash = (one: Row, other: Row) =>
    meet(one, other) && (one.customer !== other.customer || isOfMemo)
  if (sent.some((one, at) => sent.slice(at + 1).some((other) => clash(one, other)))) {
    return undefined
  }
  const left = rows.filter((row) => !sent.some((one) => isSame(one, row)))
  const after = left.map((row) => ({ ...row }))
  for (const row of after) {
    for (const one of sent) {
      const losesId = row.hasId && row.id === one.id
      const losesValue = row.isLive && meet(row, one) && !ids.includes(row.id)
      if (losesValue && row.customer === one.customer) {
        if (isOfMemo) return undefined
        continue
      }
      if (!losesId && !losesValue) continue
      if (!takeOver) return undefined
      row.isLive = false
      if (losesId) row.hasId = false
    }
  }
  return [...after, ...sent]
}

const current = ({ rows }: Run, row: Row) => rows.find((other) => isSame(other, row))

async function put(run: Run): Promise<void> {
  const { row, input } = draw(run)
  const takeOver = run.random.chance(30)
  const known = current(run, row)
  const next = stored(run, [row], takeOver)
  const isUnchanged = known?.isLive === true && known.hasId && known.wire === row.wire
  const expected =
    next === undefined
      ? 'refused'
      : isUnchanged
        ? 'unchanged'
        : known === undefined
          ? 'added'
          : 'changed'
  const outcome = await putOne(tested.store, run.kind, input, { takeOver })
  assert.equal(outcome.outcome, expected, JSON.stringify({ input, takeOver, outcome }))
  if (next !== undefined) run.rows = next
}

async function importAll(run: Run): Promise<void> {
  const sent = drawSome(run)
  const takeOver = run.random.chance(40)
  const next = stored(
    run,
    sent.map(({ row }) => row),
    takeOver,
  )
  const inputs = sent.map(({ input }) => input)
  const report = await tested.take(run.kind, inputs, { takeOver })
  assert.equal(report.faultCount === 0, next !== undefined, JSON.stringify({ inputs, report }))
  if (next !== undefined) run.rows = next
}

/** An import that leaves out what conflicts: the others are stored, and nothing is left behind. */
async function importSome(run: Run): Promise<void> {
  const sent = drawSome(run)
  const takeOver = run.random.chance(40)
  const out = new Set<number>()
  const reject = ({ line }: { readonly line: number }) => void out.add(line)
  const inputs = sent.map(({ input }) => input)
  await tested.take(run.kind, inputs, { takeOver, reject })
  const taken = sent.filter((_one, at) => !out.has(at + 1)).map(({ row }) => row)
  const next = stored(run, taken, takeOver)
  assert.ok(next !== undefined, JSON.stringify({ inputs, out: [...out] }))
  run.rows = next
}

async function withdraw(run: Run): Promise<void> {
  if (run.rows.length === 0) return
  const row = run.random.pick(run.rows)
  const { customer: customerId, id } = row
  const outcome = await tested.store.operator.put(resourceOf(run.kind), {
    record: { customerId, id, withdraws: true },
    precondition: {},
    allowOlder: false,
    from: { command: 'DELETE', clientId: 'core' },
  })
  assert.equal(outcome.outcome, row.isLive ? 'changed' : 'unchanged')
  run.rows = run.rows.map((one) => (one === row ? { ...one, isLive: false } : one))
}

const erase = (run: Run) => eraseCustomer(run, run.random.below(CUSTOMERS))

async function eraseCustomer(run: Run, at: number): Promise<void> {
  const customer = `held-${run.seed}-${at}`
  for (let place: Parameters<typeof tested.store.operator.eraseSome>[2]; ; ) {
    const { next } = await tested.store.operator.eraseSome(customer, [], place)
    if (next === undefined) break
    place = next
  }
  run.rows = run.rows.filter((row) => row.customer !== customer)
}

/** Compares who holds what with the model, whose values are the marks of the real ones. */
async function compare(run: Run): Promise<void> {
  const { seed, kind, rows } = run
  const held = await tested.ask(`
    select owner.id, held.member, count(*) from bursar.unique_claim as held
    join bursar.customer as owner on owner.number = held.customer
    where held.kind = '${kind}' and owner.id like 'held-${seed}-%'
    group by owner.id, held.member order by owner.id, held.member`)
  const expected = new Map<string, Set<string>>()
  const note = (customer: string, member: string, value: string) => {
    const key = `${customer} ${member}`
    expected.set(key, (expected.get(key) ?? new Set()).add(value))
  }
  for (const { customer, id, value, places, isLive, hasId } of rows) {
    if (hasId) note(customer, 'id', id)
    if (isLive) for (const place of places) note(customer, place, value)
  }
  const found = held.map((row) => row.map(String).join(' '))
  const wanted = [...expected].map(([key, values]) => `${key} ${values.size}`)
  assert.deepEqual(found.toSorted(), wanted.toSorted())
}

const steps = [put, put, put, put, importAll, importAll, importSome, withdraw, erase]

async function runSequence(seed: number): Promise<void> {
  const random = seeded(seed)
  const run: Run = { seed, random, kind: random.pick(kinds), rows: [] }
  for (let at = 0; at < STEPS; at += 1) {
    const step = random.pick(steps)
    try {
      await step(run)
      await compare(run)
    } catch (error) {
      throw new Error(`step ${at} (${step.name}) of seed ${seed}`, { cause: error })
    }
  }
  // A comparison passes every value that is held, so those of earlier sequences go.
  for (let at = 0; at < CUSTOMERS; at += 1) await eraseCustomer(run, at)
  await compare(run)
}

test(`who holds an id, a memo or an address on ${testStore} is what a model says`, async () => {
  const seeds =
    replayed === undefined ? [...Array(SEQUENCES).keys()].map((at) => at + 1) : [Number(replayed)]
  for (const seed of seeds) await runSequence(seed)
})
