import { largest, limitsOf, smallest, systemTime } from '@bursar/base'
import { fullTable, type Resource, resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import type { ErasedPart, ErasedRecords, ErasePlace } from '../records/erasure.ts'
import { termRowsOf } from '../records/terms.ts'
import type { OperatorRecords } from '../records.ts'
import { isTrue, type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import { type LetGo, letGoStatements } from '../schema/held-values.ts'
import { findKeys, fingerprintsOf, type KeyMaking, NO_KEYS } from '../sealing/customer-key-rows.ts'
import type { CustomerKeys } from '../sealing/customer-keys.ts'
import type { Reads, Session, Transact, Value } from '../session.ts'
import { type EraseStatements, eraseStatements, type RowSet } from './erase-statements.ts'

const limits = limitsOf({
  /**
   * Rows that one step of an erasure deletes, 10 to 30 ms. Writers have their turn in the pause
   * after it.
   */
  erasedRowsTogether: 500,
  /**
   * The first versions of each kind of an erased customer that are looked at: what was put back has
   * lower numbers than what was stored since.
   */
  firstVersionsMax: 1000,
})

/**
 * Erases a customer's records, a few rows in each transaction. Each of these holds the customer's
 * row, as a merge does, so writers and readers see whole changes. A call that is cut off changes
 * nothing, and the next one goes on with what is left.
 *
 * The row of the customer stays, with its number and its count of versions: a place of the feed
 * that a client has kept must never fit another event. What tells readers that something is gone
 * stays too: revisions, and since when the history is known.
 */
export function openEraser(
  { rows, transact }: Reads & { readonly transact: Transact },
  deps: Pick<KeyMaking, 'dialect' | 'clock' | 'keyring'>,
): Pick<OperatorRecords, 'eraseSome' | 'holdings' | 'holdingsByKind' | 'countStoredBefore'> {
  const { dialect, clock } = deps
  const statements = eraseStatements(dialect)
  return {
    holdings: (customerId) => countHoldings(rows, statements, customerId),
    holdingsByKind: async (customerId) => {
      const [owner] = await rows({ text: statements.findOwner, values: [customerId] })
      return owner === undefined ? {} : await countByKind(rows, statements, whole(owner, 'number'))
    },
    countStoredBefore: async (customerId, at) => {
      const text = statements.countBefore(limits.firstVersionsMax)
      const [row = {}] = await rows({ text, values: [customerId, at] })
      return Number(whole(row, 'count'))
    },
    eraseSome: (customerId, clientIds, from) =>
      transact(async (session) => {
        const keysOf = async () => (await findKeys(session, deps, customerId)) ?? NO_KEYS
        const step = { ...runnerOf(session), dialect, statements, clientIds, keysOf }
        const owner = await step.run(statements.findOwner, [customerId])
        const head = whole((await step.run(statements.head))[0] ?? {}, 'seq')
        if (owner[0] === undefined) return eraseWithoutRow(step, customerId, from)
        const customer = whole(owner[0], 'number')
        const { walked, fenced } = from ?? START
        // Before the first version goes, so that readers of all customers pass by its entries.
        if (walked + LOG_STEP < head) {
          const end = smallest(walked + LOG_STEP, head)
          await step.run(statements.emptyEntries, [customer, walked, end])
          return { removed: nothing, next: { walked: end, fenced } }
        }
        const changes = await lockOwner(step, customerId)
        const at = await timeOf(step, customer, clock())
        const place = { walked: head, fenced: changes }
        if (changes !== fenced) place.fenced = await fence(step, { customer, changes, at })
        await step.run(statements.emptyEntries, [customer, walked, FAR])
        // Pages that servers keep are compared with it.
        await step.run(statements.raiseRevisions, [customer, at])
        const { removed, left } = await eraseRows(step, customer)
        if (left === 0 || (await isAnyLeft(step, customer))) return { removed, next: place }
        return await finish(step, customerId, { removed, place, listed: from?.listed })
      }, systemTime.elapsedMs() + recordsLimits.storeLockWaitMs),
  }
}

async function countHoldings(
  rows: Reads['rows'],
  statements: EraseStatements,
  customerId: string,
): Promise<ErasedRecords | undefined> {
  const { findOwner, versions, feeEvents, countKeys } = statements
  const [owner] = await rows({ text: findOwner, values: [customerId] })
  const [keys = {}] = await rows({ text: countKeys, values: [customerId] })
  const held = { ...nothing, keys: Number(whole(keys, 'count')) }
  if (owner === undefined) return held.keys > 0 ? held : undefined
  const customer = whole(owner, 'number')
  const byKind = await countByKind(rows, statements, customer)
  return {
    ...held,
    records: Object.values(byKind).reduce((sum, count) => sum + count, 0),
    versions: await countOf(rows, versions, customer),
    feeEvents: await countOf(rows, feeEvents, customer),
  }
}

async function countByKind(
  rows: Reads['rows'],
  { kinds }: EraseStatements,
  customer: bigint,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const { resource, listed } of kinds) {
    const count = await countOf(rows, listed, customer)
    if (count > 0) counts[resource.kind] = count
  }
  return counts
}

async function countOf(rows: Reads['rows'], { count }: RowSet, customer: bigint): Promise<number> {
  const [row = {}] = await rows({ text: count, values: [customer] })
  return Number(whole(row, 'count'))
}

type Step = {
  readonly dialect: Dialect
  readonly statements: EraseStatements
  readonly clientIds: readonly string[]
  readonly keysOf: () => Promise<CustomerKeys>
  readonly run: (text: string, values?: readonly Value[]) => ReturnType<Session['rows']>
}

const runnerOf = ({ rows }: Session): Pick<Step, 'run'> => ({
  run: (text, values = []) => rows({ text, values, prepare: true }),
})

const START: ErasePlace = { walked: 0n, fenced: undefined }
const LOG_STEP = BigInt(recordsLimits.erasedEntriesTogether)
/** No log has so many entries. */
const FAR = 2n ** 62n

const nothing: ErasedRecords = { records: 0, versions: 0, feeEvents: 0, keys: 0 }

/** A customer without records may have a key, and its clients may have answers. */
async function eraseWithoutRow(
  step: Step,
  customerId: string,
  from: ErasePlace = START,
): Promise<ErasedPart> {
  const rowsMax = limits.erasedRowsTogether
  const answers = await eraseSet(step, step.statements.answers, 0n, rowsMax)
  if (answers.length === rowsMax) return { removed: nothing, next: START }
  return await finish(step, customerId, { removed: nothing, place: START, listed: from.listed })
}

/** Returns how many versions the customer has had. No other writer adds one until the commit. */
async function lockOwner({ run, statements }: Step, customerId: string): Promise<bigint> {
  const [owner = {}] = await run(statements.lockOwner, [customerId])
  return whole(owner, 'changes')
}

/** The time of the erasure: now, but later than every change of the customer. */
async function timeOf({ run, statements }: Step, customer: bigint, now: bigint): Promise<bigint> {
  const [row = {}] = await run(statements.lastChange, [customer])
  const last = optionalWhole(row, 'changed_at') ?? 0n
  return largest(now, last + 1n)
}

type Fenced = { readonly customer: bigint; readonly changes: bigint; readonly at: bigint }

/**
 * Takes a number that no version has, and notes that everything up to it is gone. So a reader of
 * the feed that has read all of it is refused too, and not left with records that were erased. The
 * log of changes leaves the number out.
 */
async function fence({ run, statements }: Step, { customer, changes, at }: Fenced) {
  const fenced = changes + 1n
  await run(statements.count, [customer, fenced])
  await run(statements.noteListed, [customer, fenced])
  for (const { kind } of resources) await run(statements.noteKept, [customer, at, fenced, kind])
  return fenced
}

/** Deletes rows of all sets, up to a number in all. `left` is what of it was not used up. */
async function eraseRows(step: Step, customer: bigint) {
  const { statements } = step
  let left: number = limits.erasedRowsTogether
  const take = async (set: RowSet) => {
    const erased = await eraseSet(step, set, customer, left)
    left -= erased.length
    return erased
  }
  let records = 0
  for (const { resource, listed, full } of statements.kinds) {
    const erased = await take(listed)
    const ids = erased.map((row) => text(row, 'id'))
    records += ids.length
    const live = erased.filter(({ deleted }) => !isTrue(deleted)).length
    if (live > 0) await step.run(statements.countErased, [customer, live, resource.kind])
    if (resource.terms !== undefined) await eraseTerms(step, customer, erased)
    for (const { text, values } of letGoStatements(
      resource,
      step.dialect,
      heldBy(resource, erased),
    )) {
      await step.run(text, values)
    }
    if (full === undefined) continue
    // Both tables of a kind with a mask lose a record at once, or it would look damaged.
    const pairs = statements.erasePairs(fullTable(resource))
    if (ids.length > 0) await step.run(pairs, [customer, step.dialect.list(ids)])
    // An unmasked record without a masked one is damaged, and goes too.
    if (left > 0) await take(full)
  }
  const versions = (await take(statements.versions)).length
  const feeEvents = (await take(statements.feeEvents)).length
  for (const set of [...statements.others, statements.answers]) await take(set)
  return { removed: { ...nothing, records, versions, feeEvents }, left }
}

/** The values that the customer held by records which were erased. */
const heldBy = ({ uniqueMembers, exclusive }: Resource, erased: readonly NamedRow[]): LetGo =>
  erased.flatMap((row) => {
    const networks =
      exclusive === undefined ? [] : (optionalText(row, 'networks')?.split(' ') ?? [])
    return [
      ...['id', ...uniqueMembers].map((member) => ({ member, value: optionalText(row, member) })),
      ...networks.map((member) => ({ member, value: optionalText(row, 'exclusive_key') })),
    ].flatMap(({ member, value }) => (value === undefined ? [] : { member, value }))
  })

/** A record that was erased tells which terms it had. */
async function eraseTerms(
  { dialect, statements, run }: Step,
  customer: bigint,
  erased: readonly NamedRow[],
): Promise<void> {
  const rows = erased.flatMap((row) => {
    const place = text(row, 'place')
    const terms = termRowsOf(optionalText(row, 'terms') ?? '', customer)
    return terms.map(({ term, scope, sort }) => ({ term, scope: Number(scope), sort, place }))
  })
  if (rows.length === 0) return
  const list = (of: (row: (typeof rows)[number]) => string | number) => dialect.list(rows.map(of))
  const { eraseTerms: statement } = statements
  await run(statement, [
    list(({ term }) => term),
    list(({ scope }) => scope),
    list(({ sort }) => sort),
    list(({ place }) => place),
  ])
}

async function eraseSet(step: Step, set: RowSet, customer: bigint, rowsMax: number) {
  return rowsMax > 0 ? await step.run(set.erase, [ownerOf(step, set, customer), rowsMax]) : []
}

const ownerOf = ({ dialect, clientIds }: Step, { of }: RowSet, customer: bigint): Value =>
  of === 'clients' ? dialect.list(clientIds) : customer

/** Rows that another transaction had locked were left out. */
async function isAnyLeft(step: Step, customer: bigint): Promise<boolean> {
  for (const set of step.statements.all) {
    const found = await step.run(set.isLeft, [ownerOf(step, set, customer)])
    if (found.length > 0) return true
  }
  return false
}

type Finishing = {
  readonly removed: ErasedRecords
  readonly place: ErasePlace
  readonly listed: readonly string[] | undefined
}

/**
 * Deletes the keys last: a copy of a body that is found later is useless then. Before that, the
 * caller lists them as destroyed in the other database. A command that is killed in between leaves
 * an erasure that has not ended, and no record.
 */
async function finish(
  { run, statements, keysOf, dialect }: Step,
  customerId: string,
  { removed, place, listed = [] }: Finishing,
): Promise<ErasedPart> {
  const ids = (await run(statements.keyIds, [customerId])).map((row) => text(row, 'id'))
  if (ids.some((id) => !listed.includes(id))) {
    const destroys = fingerprintsOf(await keysOf())
    return { removed, next: { ...place, listed: ids }, destroys }
  }
  await run(statements.emptyFiles, [customerId])
  await run(statements.eraseReseal, [customerId])
  const keys = (await run(statements.eraseKeys, [customerId, dialect.list(ids)])).length
  return { removed: { ...removed, keys }, next: undefined }
}
