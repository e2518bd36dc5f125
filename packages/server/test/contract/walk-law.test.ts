import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { cryptoNetworks, systemRandom, systemTime } from '@bursar/base'
import { customerScopes, type ListOperation, type RecordInput } from '@bursar/contract'
import { importEntries } from '@bursar/intake'
import { createSampleClient } from '@bursar/oauth'
import fc from 'fast-check'
import { describeService } from '../../../../test/support/describe-service.ts'
import { isLong } from '../../../../test/support/long.ts'
import { lists, type Pairs, pathOf } from '../../../../test/support/operation-calls.ts'
import { type Item, itemsOf } from '../../../../test/support/read-all-pages.ts'
import { rules } from '../../../../test/support/record-store.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anIssuerQuote,
  aStatement,
  someDepositInstructions,
} from '../../../../test/support/records.ts'
import { testStore } from '../../../../test/support/test-database.ts'
import { encodeAddress } from '../../../sandbox/src/encode-address.ts'

/**
 * The paging law (decisions, section 3): a client reads all pages while others write. A record that
 * matches the filters from the first page to the last appears exactly once, in order. Any other
 * record appears at most once. The test also compares every page with a model of the store, and
 * after each write the first page, which the service keeps in memory.
 */

/** Each import on PostgreSQL costs a commit, so the short run has fewer there. */
const numRuns = isLong ? 2000 : testStore === 'postgres' ? 15 : 40
const runs = { seed: 20_261_121, numRuns }

const walker = { customerId: 'walker', clientId: 'walker', clientSecret: 'walker_secret' }

// The long run takes longer than a token lives by default.
const service = describeService({ env: { BURSAR_TOKEN_LIFE_SECONDS: '3600' } }, async () => {
  const { credentials, keyring, oauth } = service.parts
  const { customerId, clientId: id, clientSecret: secret } = walker
  await createSampleClient(
    { store: credentials, keyring, clock: systemTime.now, random: systemRandom },
    { id, secret, customerId, name: id, scopes: customerScopes },
  )
  await oauth.refresh()
})

/** Times that are equal, that differ in the last digit only, and that are before 1970. */
const times = [
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.001Z',
  '2026-01-01T00:00:00.001001Z',
  '1969-12-31T23:59:59.999999Z',
  '2026-06-30T12:00:00Z',
] as const

const slotCount = 24

/** The record in a slot keeps its id and its time. Several slots share one time. */
const idOf = (customer: string, slot: number): string => {
  const hex = hash('sha256', `${customer} ${slot}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
const timeOf = (slot: number): string => times[slot % times.length] ?? times[0]

type State = { readonly variant: number; readonly deleted: boolean }

/**
 * The record of a slot and a variant. The variant changes or removes every member that a list
 * filters on.
 */
function recordOf(
  list: ListOperation,
  customer: string,
  slot: number,
  variant: number,
): RecordInput {
  const id = idOf(customer, slot)
  const common = {
    id,
    customer_id: customer,
    ...(variant % 3 !== 2 && { ref_id: `ref-${slot}-${variant % 2}` }),
  }
  const people = {
    profile_id: `profile-${variant % 3}`,
    ...(variant % 2 === 0 && { account_id: `account-${variant % 4}` }),
    ...(variant % 4 !== 3 && { identity_id: `identity-${variant % 2}` }),
  }
  const created_at = timeOf(slot)
  switch (list.view.resource.kind) {
    case 'fiat-accounts':
      return aFiatAccount({
        ...common,
        created_at,
        status: variant % 2 === 0 ? 'PENDING' : 'APPROVED',
      })
    case 'fiat-deposit-instructions': {
      const memo_id = hash('sha256', id).slice(0, 16).toUpperCase()
      return someDepositInstructions({ ...common, ...people, created_at, memo_id })
    }
    case 'deposit-addresses': {
      const crypto_network = cryptoNetworks[variant % 3] ?? 'BITCOIN'
      const address = encodeAddress(crypto_network, hash('sha256', id, 'buffer'))
      return aDepositAddress({
        ...common,
        ...people,
        created_at,
        crypto_network,
        address,
        compatible_crypto_networks: [crypto_network],
      })
    }
    case 'statements':
      return aStatement({
        ...common,
        period_start: timeOf(slot),
        status: `STATEMENT_STATUS_${['UNSPECIFIED', 'INITIATED', 'GENERATED', 'PAID'][variant % 4]}`,
      })
    case 'issuer-quote-executions':
      return anIssuerQuote({
        ...common,
        created_at,
        profile_id: `profile-${variant % 3}`,
        status: ['PENDING', 'COMPLETE', 'FAILED'][variant % 3],
      })
    default:
      throw new Error(`recordOf makes no ${list.view.resource.kind}`)
  }
}

/** The member that each array filter and `profile_id` compare. */
const memberOf: Readonly<Record<string, string>> = {
  ids: 'id',
  statement_ids: 'id',
  ref_ids: 'ref_id',
  profile_ids: 'profile_id',
  profile_id: 'profile_id',
  identity_ids: 'identity_id',
  account_ids: 'account_id',
  networks: 'crypto_network',
  statuses: 'status',
  status: 'status',
}

const boundOf: Readonly<Record<string, (time: string, bound: string) => boolean>> = {
  'created_at.lt': (time, bound) => time < bound,
  'created_at.lte': (time, bound) => time <= bound,
  'created_at.eq': (time, bound) => time === bound,
  'created_at.gte': (time, bound) => time >= bound,
  'created_at.gt': (time, bound) => time > bound,
  'created_range.begin': (time, bound) => time >= bound,
  'created_range.end': (time, bound) => time <= bound,
}

/** A time with six fraction digits, so that its text sorts like the time. */
function sortable(printed: string): string {
  const [whole = '', fraction = ''] = printed.replace('Z', '').split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}

type Plan = {
  readonly initial: readonly (readonly [slot: number, state: State])[]
  readonly query: Pairs
  readonly order: 'ASC' | 'DESC'
  /** The sizes of the pages, used in turn. */
  readonly limits: readonly number[]
  /** The records that are written after each page. */
  readonly batches: readonly (readonly (readonly [slot: number, state: State])[])[]
}

function planOf(list: ListOperation): fc.Arbitrary<Plan> {
  const slot = fc.nat({ max: slotCount - 1 })
  const state = fc.record({
    variant: fc.nat({ max: 11 }),
    deleted: list.view.resource.deletable ? fc.boolean() : fc.constant(false),
  })
  const writes = (max: number) =>
    fc.uniqueArray(fc.tuple(slot, state), { selector: ([at]) => at, maxLength: max })
  return fc.record({
    initial: writes(slotCount),
    query: queryOf(list),
    order: fc.constantFrom('ASC', 'DESC'),
    limits: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
    batches: fc.array(writes(6), { maxLength: 8 }),
  })
}

/** Up to three filters. Most of their values occur in a record. */
function queryOf(list: ListOperation): fc.Arbitrary<Pairs> {
  const names = Object.keys(list.query).filter(
    (name) => name in memberOf || name in boundOf || name === 'include_deleted',
  )
  const filters = fc.subarray(names, { maxLength: 3 })
  return filters.chain((chosen) =>
    fc.tuple(...chosen.map((name) => pairsOf(list, name))).map((pairs) => pairs.flat()),
  )
}

function pairsOf(list: ListOperation, name: string): fc.Arbitrary<Pairs> {
  if (name === 'include_deleted') return fc.constantFrom([[name, 'true']], [[name, 'false']])
  if (name in boundOf) return fc.constantFrom(...times).map((time) => [[name, time]])
  const member = String(memberOf[name])
  const value = fc
    .tuple(fc.nat({ max: slotCount - 1 }), fc.nat({ max: 11 }))
    .map(([slot, variant]) => recordOf(list, walker.customerId, slot, variant)[member])
    .map((found) => (typeof found === 'string' ? found : 'none'))
    .filter((found) => found !== 'none')
  const isArray = 'each' in (list.query[name] ?? {})
  return fc
    .array(value, { minLength: 1, maxLength: isArray ? 12 : 1 })
    .map((values) => values.map((each) => [name, each] as const))
}

type Key = string

/** A model of the store: it has one state for each slot and returns the expected pages. */
function openModel(list: ListOperation) {
  const states = new Map<number, State>()
  const matches = (slot: number, query: Pairs): boolean => {
    const state = states.get(slot)
    if (state === undefined) return false
    const revealed = query.some(([name, value]) => name === 'include_deleted' && value === 'true')
    if (state.deleted && !revealed) return false
    const record = recordOf(list, walker.customerId, slot, state.variant)
    const names = new Set(query.map(([name]) => name).filter((name) => name !== 'include_deleted'))
    return [...names].every((name) => {
      const values = query.filter(([other]) => other === name).map(([, value]) => value)
      const holds = boundOf[name]
      if (holds !== undefined) {
        return values.every((bound) => holds(sortable(timeOf(slot)), sortable(bound)))
      }
      return values.some((value) => record[String(memberOf[name])] === value)
    })
  }
  const slots = Array.from({ length: slotCount }, (_, slot) => slot)
  const keyOf = (slot: number): Key => `${sortable(timeOf(slot))} ${idOf(walker.customerId, slot)}`
  return {
    states,
    keyOf,
    matching: (query: Pairs): number[] => slots.filter((slot) => matches(slot, query)),
    page: (query: Pairs, order: Plan['order'], after: Key | undefined, limit: number) => {
      const beyond = slots
        .filter((slot) => matches(slot, query))
        .filter(
          (slot) =>
            after === undefined || (order === 'ASC' ? keyOf(slot) > after : keyOf(slot) < after),
        )
        .toSorted((a, b) => (keyOf(a) < keyOf(b) === (order === 'ASC') ? -1 : 1))
      return { slots: beyond.slice(0, limit), more: beyond.length > limit }
    },
  }
}

type Model = ReturnType<typeof openModel>

/** Writes states by an import. An explicit null ends a deletion. */
async function write(
  list: ListOperation,
  model: Model,
  batch: Plan['initial'],
  customer = walker.customerId,
) {
  const { resource } = list.view
  const records = batch.map(([slot, { variant, deleted }]) => ({
    ...recordOf(list, customer, slot, variant),
    ...(resource.deletable && { deleted_at: deleted ? '2026-07-01T00:00:00Z' : null }),
  }))
  const entries = (async function* () {
    for (const [at, value] of records.entries()) yield { line: at + 1, value }
  })()
  const expected = { mayBeEmpty: true }
  const options = { dryRun: false, allowOlder: false, rules, expected }
  const report = await importEntries(service.parts.store, resource, entries, options)
  assert.deepEqual(report.faults, [])
  if (customer === walker.customerId)
    for (const [slot, state] of batch) model.states.set(slot, state)
}

async function readPagesWhileWriting(list: ListOperation, plan: Plan): Promise<void> {
  const model = openModel(list)
  await write(list, model, plan.initial)
  await write(list, model, plan.initial, 'somebody-else')

  const { query, order, limits, batches } = plan
  const seen: Item[] = []
  const always = new Set(model.matching(query))
  let cursor = ''
  for (let at = 0; at === 0 || cursor !== ''; at += 1) {
    const limit = limits[at % limits.length] ?? 1
    const pairs: Pairs = [
      ...query,
      ['order', order],
      ['limit', String(limit)],
      ['page_cursor', cursor],
    ]
    const called = await service.call(pathOf(list, pairs, walker.customerId), { as: walker })
    assert.equal(called.status, 200, called.text)
    const items = itemsOf(list, called)
    const last = seen.at(-1)
    const lastSlot = last && slotOf(last)
    const expected = model.page(
      query,
      order,
      lastSlot === undefined ? undefined : model.keyOf(lastSlot),
      limit,
    )
    assert.deepEqual(items.map(slotOf), expected.slots, 'the page is not what the model says')
    assert.equal('next_page_cursor' in called.body, expected.more)
    for (const item of items) assertCurrent(list, model, item)
    seen.push(...items)
    cursor = called.body.next_page_cursor ?? ''
    await write(list, model, batches[at] ?? [])
    await assertFirstPage(list, model, plan)
    if (cursor !== '') {
      const now = new Set(model.matching(query))
      for (const slot of always) if (!now.has(slot)) always.delete(slot)
    }
  }
  assertLaw(model, order, seen.map(slotOf), always)
}

/** Reads the first page twice: the second time the service answers what it has kept. */
async function assertFirstPage(list: ListOperation, model: Model, plan: Plan): Promise<void> {
  const { query, order, limits } = plan
  const limit = limits[0] ?? 1
  const pairs: Pairs = [...query, ['order', order], ['limit', String(limit)]]
  const { slots, more } = model.page(query, order, undefined, limit)
  for (const _time of ['read', 'kept']) {
    const called = await service.call(pathOf(list, pairs, walker.customerId), { as: walker })
    const items = itemsOf(list, called)
    assert.deepEqual(items.map(slotOf), slots, 'the first page is not what the model says')
    assert.equal('next_page_cursor' in called.body, more)
    for (const item of items) assertCurrent(list, model, item)
  }
}

const slotsById = new Map(
  Array.from({ length: slotCount }, (_, slot) => [idOf(walker.customerId, slot), slot] as const),
)

function slotOf({ id }: Item): number {
  const slot = slotsById.get(id)
  assert.ok(slot !== undefined, `${id} is another customer's`)
  return slot
}

/** The page shows the current record, not the one from the time of the first page. */
function assertCurrent(list: ListOperation, model: Model, item: Item): void {
  const slot = slotOf(item)
  const record = recordOf(list, walker.customerId, slot, model.states.get(slot)?.variant ?? 0)
  for (const member of new Set(Object.values(memberOf))) {
    if (member === 'identity_id' && record.identity_id === undefined) continue
    assert.equal(item[member], record[member], member)
  }
}

function assertLaw(
  model: Model,
  order: Plan['order'],
  seen: readonly number[],
  always: ReadonlySet<number>,
) {
  const keys = seen.map(model.keyOf)
  const sorted = order === 'ASC' ? keys.toSorted() : keys.toSorted().toReversed()
  assert.deepEqual(keys, sorted, 'the pages are not in order')
  assert.equal(new Set(keys).size, keys.length, 'a record appears twice')
  const missing = [...always].filter((slot) => !seen.includes(slot))
  assert.deepEqual(missing, [], 'a record that always matched is missing')
}

test('the paging law holds for all lists at once while records are written between their pages', async () => {
  const plans = fc.tuple(...lists.map(planOf))
  const property = fc.asyncProperty(plans, async (planned) => {
    await service.parts.store.operator.clear()
    await Promise.all(
      lists.map((list, at) => readPagesWhileWriting(list, planned[at] ?? assert.fail())),
    )
  })
  await fc.assert(property, runs)
})
