import assert from 'node:assert/strict'
import type { Called, TestService } from '../../../../test/support/harness.ts'
import { take } from '../../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anIssuerQuote } from '../../../../test/support/records.ts'
import { type Content, type Kind, Model, type Query, type Seeded, seeded } from './model.ts'

const kinds = {
  'fiat-accounts': { canDelete: true, filters: { ref_id: 'ref_ids', id: 'ids' } },
  'issuer-quote-executions': {
    canDelete: false,
    filters: { ref_id: 'ref_ids', id: 'ids', status: 'status', profile_id: 'profile_id' },
  },
  'deposit-addresses': {
    canDelete: false,
    filters: { ref_id: 'ref_ids', id: 'ids', profile_id: 'profile_ids', address: 'addresses' },
  },
} as const satisfies Record<string, Kind>

const lists = {
  'fiat-accounts': { path: '/v2/transfer/fiat-accounts', envelope: 'items' },
  'issuer-quote-executions': { path: '/v2/issuer-quotes', envelope: 'issuer_quote_executions' },
  'deposit-addresses': { path: '/v2/transfer/deposit-addresses', envelope: 'items' },
} as const

const statuses = {
  'fiat-accounts': ['PENDING', 'APPROVED', 'REJECTED'],
  'issuer-quote-executions': ['PENDING', 'COMPLETE', 'FAILED'],
  'deposit-addresses': [],
} as const satisfies Record<string, readonly string[]>

type KindName = keyof typeof kinds

/** Where sequences run. Their clock rises with each step, so that instants differ. */
export type World = {
  readonly service: TestService
  /** A token with every scope of the operator. */
  readonly operator: string
  /** A token of a new customer of this name. */
  readonly tokenOf: (customerId: string) => Promise<string>
  /** A later time than every one before. */
  readonly tick: () => bigint
}

const STEPS = 14

/** Runs the steps of one seed, each against the service and against the model. */
export async function runSequence(world: World, seed: number): Promise<void> {
  const random = seeded(seed)
  const customerId = `model-${seed}`
  const kind = random.pick(Object.keys(kinds) as KindName[])
  const openRun = async (name: string, firstId: number) => ({
    ...world,
    random,
    seed,
    kind,
    firstId,
    model: new Model(kinds[kind]),
    instants: [] as bigint[],
    customerId: name,
    customer: await world.tokenOf(name),
  })
  const [own, other] = [await openRun(customerId, 0), await openRun(`other-${seed}`, IDS)]
  const run: Run = { ...own, rival: other.model }
  const rival: Run = { ...other, rival: own.model }
  const steps = [
    insert,
    insert,
    insert,
    change,
    change,
    change,
    repeat,
    stale,
    moved,
    remove,
    restore,
    ingest,
    ingest,
    importFile,
    takeOver,
    takeOver,
    read,
    page,
    page,
    counts,
    search,
    asOf,
    asOf,
  ]
  for (let step = 0; step < STEPS; step += 1) {
    const chosen = random.pick(steps)
    try {
      // Addresses alone can be those of another customer.
      await chosen(kind === 'deposit-addresses' && random.chance(30) ? rival : run)
    } catch (error) {
      const replay = `BURSAR_MODEL_SEED=${seed} npm run -s test:model`
      throw new Error(`step ${step} (${chosen.name}) of seed ${seed}: ${replay}`, { cause: error })
    }
    const instant = world.tick()
    run.instants.push(instant)
    rival.instants.push(instant)
  }
}

type Run = World & {
  readonly random: Seeded
  readonly seed: number
  readonly customerId: string
  readonly customer: string
  readonly kind: KindName
  readonly model: Model
  /** The records of another customer, which may have the same addresses. */
  readonly rival: Model
  readonly firstId: number
  /** A time after each step. */
  readonly instants: bigint[]
}

/** The ids of a customer in one sequence. */
const IDS = 6

/** A few ids, names and addresses, so that records meet. */
function aRecord(run: Run, id = idOf(run, run.random.below(IDS))): Content {
  const { random, kind, model } = run
  const [first] = model.versions(id)
  return {
    id,
    created_at: String(first?.content.created_at ?? `2026-01-0${1 + random.below(5)}T00:00:00Z`),
    ...(kind !== 'deposit-addresses' && { status: random.pick(statuses[kind]) }),
    ...(kind === 'deposit-addresses' && { address: anAddress(run) }),
    ...(random.chance(50) && { ref_id: `ref ${random.below(5)}` }),
    ...(kind !== 'fiat-accounts' && { profile_id: `profile ${random.below(3)}` }),
    ...(random.chance(30) && { source_version: random.below(4) }),
  }
}

const idOf = ({ seed, firstId }: Run, at: number): string =>
  `${seed.toString(16).padStart(8, '0')}-0000-4000-8000-${String(firstId + at).padStart(12, '0')}`

const anAddress = ({ seed, random }: Run): string =>
  `0x${seed.toString(16).padStart(8, '0')}${String(random.below(4)).padStart(32, '0')}`

const wireOf = ({ kind, customerId }: Run, content: Content, deleted?: boolean): object => {
  const whole = { ...content, customer_id: customerId }
  const deletion =
    deleted === undefined ? {} : { deleted_at: deleted ? '2026-06-01T00:00:00Z' : null }
  if (kind === 'deposit-addresses') return aDepositAddress(whole)
  return kind === 'fiat-accounts' ? aFiatAccount({ ...whole, ...deletion }) : anIssuerQuote(whole)
}

/** The records of the other customer that have the address. */
const holdersOf = ({ rival }: Run, { address }: Content): readonly string[] =>
  address === undefined ? [] : rival.holders('address', address)

/** Stores what was not refused, and withdraws the records that lose their address. */
function note(run: Run, content: Content, deleted: boolean | undefined, at: bigint): void {
  run.model.store(content, deleted, at)
  for (const id of holdersOf(run, content)) {
    const lost = run.rival.versions(id).at(-1)
    if (lost !== undefined) run.rival.store(lost.content, true, at)
  }
}

/** Puts a record, and compares the outcome with the model's. */
async function put(
  run: Run,
  content: Content,
  deleted?: boolean,
  takesOver = false,
): Promise<void> {
  const { service, operator, kind, model, tick } = run
  const isHeld = !takesOver && holdersOf(run, content).length > 0
  const verdict = isHeld ? 'refused' : model.judge(content, deleted)
  const at = tick()
  const query = takesOver ? '?take_over=true' : ''
  const answer = await storing(() =>
    service.call(`/ingest/v1/${kind}/${content.id}${query}`, {
      token: operator,
      method: 'PUT',
      body: JSON.stringify(wireOf(run, content, deleted)),
    }),
  )
  const outcome = answer.status === 409 ? 'refused' : answer.body.outcome
  assert.equal(outcome, verdict, answer.text)
  if (verdict === 'added' || verdict === 'changed') note(run, content, deleted, at)
}

/** A write that got no lock in time has stored nothing, and is sent again, as clients do. */
async function storing(call: () => Promise<Called>): Promise<Called> {
  for (let tries = 1; ; tries += 1) {
    const answer = await call()
    if (answer.status !== 503 || tries === STORING_TRIES) return answer
  }
}

const STORING_TRIES = 5

const takeOver = (run: Run) => put(run, aRecord(run), undefined, true)

const insert = (run: Run) => put(run, aRecord(run))

const known = ({ model, random }: Run): string | undefined =>
  model.ids().length === 0 ? undefined : random.pick(model.ids())

async function change(run: Run): Promise<void> {
  const id = known(run)
  if (id !== undefined) await put(run, aRecord(run, id))
}

async function repeat(run: Run): Promise<void> {
  const id = known(run)
  const current = id && run.model.versions(id).at(-1)
  if (current) await put(run, current.content)
}

async function stale(run: Run): Promise<void> {
  const id = known(run)
  if (id === undefined) return
  await put(run, { ...aRecord(run, id), source_version: 5 })
  await put(run, { ...aRecord(run, id), source_version: 4 })
}

async function moved(run: Run): Promise<void> {
  const id = known(run)
  if (id !== undefined) await put(run, { ...aRecord(run, id), created_at: '2026-02-01T00:00:00Z' })
}

async function remove(run: Run): Promise<void> {
  const { service, operator, kind, model, tick } = run
  const id = known(run)
  if (id === undefined) return
  const current = model.versions(id).at(-1)
  const at = tick()
  const path = `/ingest/v1/${kind}/${id}`
  const remove = () => service.call(path, { token: operator, method: 'DELETE' })
  const { status } = await storing(remove)
  assert.equal(status, 204)
  if (current?.deleted === false) model.store(current.content, true, at)
}

async function restore(run: Run): Promise<void> {
  const id = known(run)
  const current = id && run.model.versions(id).at(-1)
  if (current && kinds[run.kind].canDelete) await put(run, current.content, false)
}

/** Several records, of which all are stored, or none. */
function batchOf(run: Run) {
  const ids = [0, 1, 2, 3, 4, 5].filter(() => run.random.chance(60))
  const contents = ids.map((at) => aRecord(run, idOf(run, at)))
  const takesOver = run.random.chance(30)
  const names = contents.flatMap(({ ref_id }) => ref_id ?? [])
  const repeats = new Set(names).size < names.length
  const tried = run.model.copy()
  const at = run.tick()
  const verdicts = contents.map((content) => {
    const verdict = judgeTogether(run.model, contents, content)
    if (verdict === 'added' || verdict === 'changed') tried.store(content, undefined, at)
    return verdict
  })
  const areHeld = contents.some((content) => holdersOf(run, content).length > 0)
  const refused = repeats || verdicts.includes('refused') || (areHeld && !takesOver)
  return { contents, verdicts, refused, at, takesOver }
}

/** A record may take the `ref_id` that another one of the batch gives up. */
function judgeTogether(model: Model, contents: readonly Content[], content: Content) {
  const others = model.copy()
  for (const other of contents) {
    if (other.id === content.id || others.versions(String(other.id)).length === 0) continue
    others.store(
      { ...other, created_at: String(model.versions(String(other.id))[0]?.content.created_at) },
      undefined,
      0n,
    )
  }
  return others.judge(content, undefined)
}

function storeBatch(run: Run, { contents, verdicts, at }: ReturnType<typeof batchOf>) {
  for (const [place, content] of contents.entries()) {
    const verdict = verdicts[place]
    if (verdict === 'added' || verdict === 'changed') note(run, content, undefined, at)
  }
}

const countsOf = ({ verdicts, refused }: ReturnType<typeof batchOf>) =>
  refused
    ? 'refused'
    : ['added', 'changed', 'unchanged'].map(
        (verdict) => verdicts.filter((other) => other === verdict).length,
      )

async function ingest(run: Run): Promise<void> {
  const batch = batchOf(run)
  const body = batch.contents.map((content) => `${JSON.stringify(wireOf(run, content))}\n`).join('')
  const query = batch.takesOver ? '?take_over=true' : ''
  const answer = await run.service.call(`/ingest/v1/${run.kind}${query}`, {
    token: run.operator,
    method: 'POST',
    body,
  })
  const { added, changed, unchanged } = answer.body
  const counts = [400, 409].includes(answer.status) ? 'refused' : [added, changed, unchanged]
  assert.deepEqual(counts, countsOf(batch), answer.text)
  if (!batch.refused) storeBatch(run, batch)
}

async function importFile(run: Run): Promise<void> {
  const batch = batchOf(run)
  const records = batch.contents.map((content) => wireOf(run, content))
  const options = { expected: { mayBeEmpty: true }, takeOver: batch.takesOver }
  const report = await take(run.service.parts.store, run.kind, records, options)
  const { added, changed, unchanged } = report
  const counts = report.faultCount > 0 ? 'refused' : [added, changed, unchanged]
  assert.deepEqual(counts, countsOf(batch), JSON.stringify(report.faults))
  if (!batch.refused) storeBatch(run, batch)
}

/** What the model knows of a record that was answered. */
const shown = (record: Readonly<Record<string, unknown>>) =>
  shownMembers.map((name) => record[name])

const shownMembers = ['id', 'created_at', 'status', 'ref_id', 'profile_id', 'address']

async function read(run: Run): Promise<void> {
  const id = known(run) ?? idOf(run, 0)
  const current = run.model.versions(id).at(-1)
  const answer = await run.service.call(`/ingest/v1/${run.kind}/${id}`, { token: run.operator })
  assertRecord(run, answer, current)
  const history = await run.service.call(`/ingest/v1/${run.kind}/${id}/history`, {
    token: run.operator,
  })
  const versions = history.body.versions ?? []
  const found = versions.map(
    ({ record, withdrawn }: { record: Record<string, unknown>; withdrawn?: true }) => [
      record.status,
      record.ref_id,
      kinds[run.kind].canDelete ? record.deleted_at !== undefined : withdrawn === true,
    ],
  )
  const expected = run.model
    .versions(id)
    .map(({ content, deleted }) => [content.status, content.ref_id, deleted])
  assert.deepEqual(found, expected)
  for (const [at, version] of versions.entries()) {
    assert.equal(version.replaced_at, versions[at + 1]?.stored_at, 'the versions are a chain')
  }
}

type Version = ReturnType<Model['at']>

function assertRecord({ kind }: Run, { status, body }: Called, expected: Version): void {
  const isWithdrawn = expected?.deleted === true && !kinds[kind].canDelete
  if (expected === undefined || isWithdrawn) return void assert.equal(status, 404)
  assert.equal(status, 200)
  const content = kind === 'fiat-accounts' ? { ...expected.content } : expected.content
  assert.deepEqual(shown(body), shown(content))
  assert.equal(body.source_version, content.source_version)
  assert.equal(body.deleted_at !== undefined, expected.deleted)
}

/** A list of the customer, in pages of a random size. */
function aQuery(run: Run): Query {
  const { random, kind } = run
  const values: Readonly<Record<string, () => string>> = {
    ref_id: () => `ref ${random.below(5)}`,
    id: () => idOf(run, random.below(7)),
    status: () => random.pick<string>(statuses[kind]),
    address: () => anAddress(run),
    profile_id: () => `profile ${random.below(3)}`,
  }
  const filters: Record<string, readonly string[]> = {}
  for (const member of Object.keys(kinds[kind].filters)) {
    if (!random.chance(25)) continue
    const one = values[member]?.() ?? ''
    const isSingle = member === 'profile_id' && kind === 'issuer-quote-executions'
    filters[member] = isSingle || random.chance(50) ? [one] : [one, values[member]?.() ?? '']
  }
  const order = random.pick(['ASC', 'DESC'] as const)
  return { filters, order, includeDeleted: kinds[kind].canDelete && random.chance(30) }
}

async function readAll(run: Run, path: string, token: string, query: Query) {
  const { kind, random, service } = run
  const named: Readonly<Record<string, string>> = kinds[kind].filters
  const pairs = Object.entries(query.filters).flatMap(([member, values]) =>
    values.map((value) => `${named[member]}=${encodeURIComponent(value)}`),
  )
  const deleted = query.includeDeleted ? ['include_deleted=true'] : []
  const limit = 1 + random.below(4)
  const asked = [...pairs, ...deleted, `order=${query.order}`, `limit=${limit}`].join('&')
  const records: Record<string, unknown>[] = []
  let cursor: string | undefined
  do {
    const after = cursor === undefined ? '' : `&page_cursor=${cursor}`
    const separator = path.includes('?') ? '&' : '?'
    const answer = await service.call(`${path}${separator}${asked}${after}`, { token })
    assert.equal(answer.status, 200, answer.text)
    records.push(...answer.body[lists[kind].envelope])
    cursor = answer.body.next_page_cursor
  } while (cursor !== undefined)
  return records.map(shown)
}

async function page(run: Run): Promise<void> {
  const query = aQuery(run)
  const found = await readAll(run, lists[run.kind].path, run.customer, query)
  const expected = run.model.list(query, run.tick()).map(({ content }) => shown(content))
  assert.deepEqual(found, expected, JSON.stringify(query))
}

/** The list of customers has the number of records that a list without filters shows. */
async function counts(run: Run): Promise<void> {
  const path = `/ingest/v1/customers?prefix=${run.customerId}`
  const { status, body } = await run.service.call(path, { token: run.operator })
  assert.equal(status, 200)
  const found = body.customers.find(({ id }: { readonly id: string }) => id === run.customerId)
  const query = { filters: {}, order: 'ASC', includeDeleted: false } as const
  assert.equal(found?.counts[run.kind] ?? 0, run.model.list(query, run.tick()).length)
  assert.equal(found === undefined, run.model.ids().length === 0)
}

async function asOf(run: Run): Promise<void> {
  if (run.instants.length === 0) return
  const instant = run.random.pick(run.instants)
  const at = `as_of=${printed(instant)}`
  const query = aQuery(run)
  const path = `/ingest/v1/customers/${run.customerId}/${run.kind}?${at}`
  const keptSince = run.model.keptSince()
  if (keptSince !== undefined && instant < keptSince) return await unknownThen(run, path, at)
  const found = await readAll(run, path, run.operator, query)
  const expected = run.model.list(query, instant).map(({ content }) => shown(content))
  assert.deepEqual(found, expected, `${at} ${JSON.stringify(query)}`)
  const id = known(run)
  if (id === undefined) return
  const record = `/ingest/v1/${run.kind}/${id}?${at}`
  const answer = await run.service.call(record, { token: run.operator })
  assertRecord(run, answer, run.model.at(id, instant))
}

/** What there was before the first record of the kind is unknown: no read says there was none. */
async function unknownThen(run: Run, list: string, at: string): Promise<void> {
  const record = `/ingest/v1/${run.kind}/${known(run)}?${at}`
  for (const path of [list, record]) {
    const { status, body } = await run.service.call(path, { token: run.operator })
    assert.equal(status, 410, path)
    assert.match(body.detail, / are kept since .*; earlier states are unknown$/)
  }
}

/** Microseconds as RFC 3339. */
export function printed(instant: bigint): string {
  const seconds = new Date(Number(instant / 1_000_000n) * 1000).toISOString().slice(0, 19)
  return `${seconds}.${String(instant % 1_000_000n).padStart(6, '0')}Z`
}

async function search(run: Run): Promise<void> {
  const id = known(run)
  const current = id && run.model.versions(id).at(-1)
  if (!current) return
  const query = current.content.id
  const { status, body } = await run.service.call(`/ingest/v1/search?q=${query}`, {
    token: run.operator,
  })
  assert.equal(status, 200)
  const isWithdrawn = current.deleted && !kinds[run.kind].canDelete
  assert.deepEqual(
    body.hits.map((hit: Record<string, unknown>) => [hit.kind, hit.id, hit.customer_id]),
    isWithdrawn ? [] : [[run.kind, id, run.customerId]],
  )
}
