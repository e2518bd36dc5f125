import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'
import { allLines, type Behind, behindTheBack } from '../../../test/support/audit.ts'
import { newStorePlace, type StorePlace } from '../../../test/support/store-place.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { turn } from '../../../test/support/until.ts'
import { linkLines } from '../src/audit/chain.ts'
import { pruneAudit } from '../src/audit/prune-audit.ts'
import { type AuditFinding, verifyAudit } from '../src/audit/verify-audit.ts'
import { openAudit } from '../src/audit/write-audit.ts'
import type { AuditHead, AuditKey, AuditLine, AuditLog } from '../src/audit.ts'
import { NothingChanged, StoreUnavailable } from '../src/unavailable.ts'

const keys: readonly AuditKey[] = ['key_1', 'key_2'].map((id) => ({ id, key: randomBytes(32) }))
const [first, second] = keys
assert(first !== undefined && second !== undefined)
const keyOf = (id: string) => keys.find((key) => key.id === id)

const noon = BigInt(Date.parse('2026-11-23T12:00:00Z')) * 1000n
const day = 86_400_000_000n

const put = (id: string, clientId = 'core'): AuditEntry => ({
  action: 'put',
  actor: { type: 'client', id: clientId },
  outcome: 'done',
  kind: 'fiat-accounts',
  ids: [id],
  customers: ['acme'],
})

type Timed = { now: bigint; key: AuditKey }

const open = (place: StorePlace, timed: Timed): Promise<AuditLog> =>
  place.openAudit({ clock: () => timed.now, key: () => timed.key })

const entriesOf = (lines: readonly AuditLine[]): AuditEntry[] =>
  lines.map(({ body }) => JSON.parse(body))

async function* listed(heads: readonly AuditHead[]): AsyncIterable<AuditHead> {
  yield* heads
}

async function verified(reader: Behind['reader'], heads: readonly AuditHead[] = []) {
  const found: AuditFinding[] = []
  const checked = await verifyAudit({
    reader,
    keyOf,
    heads: listed(heads),
    found: (finding) => found.push(finding),
  })
  return { ...checked, found }
}

test('an entry is on disk when its write resolves, in a chain that begins with its writer', async (t) => {
  const place = await newStorePlace(t)
  const log = await open(place, { now: noon, key: first })
  assert.equal(log.head(), undefined)
  await log.write(put('a'))
  const lines = await behindTheBack(place, ({ reader }) => allLines(reader))
  const [opening, entry, ...others] = entriesOf(lines)
  assert.deepEqual(
    [opening?.action, opening?.actor, opening?.writer?.process_id],
    ['open_log', { type: 'program' }, process.pid],
  )
  assert.deepEqual([entry, others], [put('a'), []])
  assert.deepEqual(
    lines.map(({ sequence, at, keyId }) => [sequence, at, keyId]),
    [
      [1n, noon, 'key_1'],
      [2n, noon, 'key_1'],
    ],
  )
  const { chain, sequence, digest } = lines[1] ?? assert.fail()
  assert.deepEqual(log.head(), { chain, sequence, digest })
})

test('entries that differ in their ids alone share a line, and no id is lost', async (t) => {
  const place = await newStorePlace(t)
  const log = await open(place, { now: noon, key: first })
  const ids = Array.from({ length: 250 }, (_, at) => `record-${at}`)
  const other = { ...put('b', 'branch'), customers: ['borealis'] }
  await Promise.all([...ids.map((id) => log.write(put(id))), log.write(other)])
  assert.equal(log.depth(), 0)
  const lines = await behindTheBack(place, ({ reader }) => allLines(reader))
  const [, whole, rest, ofBranch] = entriesOf(lines)
  assert.deepEqual(whole, { ...put('a'), ids: ids.slice(0, 200), count: 200 })
  const further = entriesOf(lines).flatMap((entry) => entry.ids ?? [])
  assert.deepEqual(new Set(further), new Set([...ids, 'b']))
  assert.equal(lines.length, 4)
  assert.deepEqual(
    [rest, ofBranch].find((entry) => entry?.ids?.includes('b')),
    other,
  )
})

test('a process whose last lines a fail-over has lost gives their numbers to no other line', async (t) => {
  const place = await newStorePlace(t)
  const log = await open(place, { now: noon, key: first })
  await log.write(put('a'))
  await log.write(put('b'))
  const before = await behindTheBack(place, async (behind) => {
    const lines = await allLines(behind.reader)
    await remove(behind, lines.slice(-1))
    return lines
  })
  await log.write(put('c'))
  const after = await behindTheBack(place, ({ reader }) => allLines(reader))
  const named = ({ chain, sequence }: AuditLine) => `${chain}:${sequence}`
  assert.deepEqual(after.slice(0, -1), before.slice(0, -1))
  assert.deepEqual(entriesOf(after.slice(-1)), [put('c')])
  assert.ok(before.every((line) => named(line) !== named(after.at(-1) ?? assert.fail())))
})

/** A log over a store that fails as a test says. */
function failingLog() {
  const appended: (readonly AuditLine[])[] = []
  const failing: { with?: Error } = {}
  const log = openAudit(
    {
      append: async (lines) => {
        if (failing.with !== undefined) throw failing.with
        appended.push(lines)
        return lines.length
      },
      heads: async () => [],
      // No test waits for these.
      withinMs: 60_000,
      waitMs: 60_000,
    },
    { clock: () => noon, key: () => first as AuditKey },
  )
  return { log, failing, appended }
}

test('a write that changed nothing leaves no gap in the chain', async () => {
  const { log, failing, appended } = failingLog()
  await log.write(put('a'))
  failing.with = new NothingChanged('locked')
  await assert.rejects(log.write(put('b')), NothingChanged)
  delete failing.with
  await log.write(put('c'))
  const lines = appended.flat()
  assert.deepEqual(
    lines.map(({ sequence }) => sequence),
    [1n, 2n, 3n],
  )
  assert.equal(new Set(lines.map(({ chain }) => chain)).size, 1)
})

test('after a write of unknown outcome a new chain begins', async () => {
  const { log, failing, appended } = failingLog()
  await log.write(put('a'))
  const before = log.head() ?? assert.fail()
  for (const error of [new StoreUnavailable('lost'), new Error('refused')]) {
    failing.with = error
    await assert.rejects(log.write(put('b')), StoreUnavailable)
  }
  delete failing.with
  await log.write(put('c'))
  const [opening, entry] = appended.at(-1) ?? []
  assert.deepEqual([opening?.sequence, entry?.sequence], [1n, 2n])
  assert.notEqual(opening?.chain, before.chain)
  assert.deepEqual(
    entriesOf(appended.at(-1) ?? []).map(({ action }) => action),
    ['open_log', 'put'],
  )
})

const removeLine = `create function public.remove_line() returns trigger language plpgsql
  security definer as
  $$ begin delete from bursar_audit.line as line
     where line.chain = new.chain and line.sequence = new.sequence and new.body ~ 'dropped';
     return null; end $$`

/** Each drops the lines whose body matches, and raises no error. */
const droppers =
  testStore === 'postgres'
    ? [
        `create function public.drop_line() returns trigger language plpgsql as
          $$ begin return case when new.body ~ 'dropped' then null else new end; end $$;
         create trigger dropping before insert on bursar_audit.line
           for each row execute function public.drop_line()`,
        `${removeLine};
         create trigger zz_dropping after insert on bursar_audit.line
           for each row execute function public.remove_line()`,
        `${removeLine};
         create constraint trigger zz_dropping after insert on bursar_audit.line
           deferrable initially deferred for each row execute function public.remove_line()`,
        `create function public.change_line() returns trigger language plpgsql as
          $$ begin new.body := replace(new.body, 'dropped', 'changed'); return new; end $$;
         create trigger dropping before insert on bursar_audit.line
           for each row execute function public.change_line()`,
        `create rule dropping as on insert to bursar_audit.line
           where new.body ~ 'dropped' do instead nothing`,
      ]
    : [
        `create trigger dropping before insert on audit_line when new.body like '%dropped%'
           begin select raise(ignore); end`,
        `create trigger dropping after insert on audit_line when new.body like '%dropped%'
           begin delete from audit_line where chain = new.chain and sequence = new.sequence; end`,
        `create trigger changing after insert on audit_line when new.body like '%dropped%'
           begin update audit_line set body = '{}'
             where chain = new.chain and sequence = new.sequence; end`,
      ]

test('a write that the store drops without an error rejects, and so do those that share its commit', async (t) => {
  for (const dropper of droppers) {
    const place = await newStorePlace(t)
    const log = await open(place, { now: noon, key: first })
    await log.write(put('a'))
    await behindTheBack(place, ({ session }) => session.run(dropper))
    const together = [put('dropped'), put('b', 'other')].map(log.write)
    for (const written of together) await assert.rejects(written, StoreUnavailable)
    await log.write(put('c'))
    const lines = await behindTheBack(place, ({ reader }) => allLines(reader))
    assert.ok(
      entriesOf(lines).some(({ ids }) => ids?.includes('c')),
      dropper,
    )
  }
})

test('more entries than may wait are refused', async () => {
  const { log } = failingLog()
  const writes = Array.from({ length: limitNamed('auditEntriesWaitingMax') + 1 }, (_, at) =>
    log.write(put(String(at))),
  )
  assert.equal(log.depth(), writes.length)
  const results = await Promise.allSettled(writes)
  const refused = results.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 1)
})

test('a process reads the last line of each chain of a time, of other processes too', async (t) => {
  const { place, heads } = await filledLog(t)
  const log = await open(place, { now: noon, key: first as AuditKey })
  const last = new Map(heads.map((head) => [head.chain, head]))
  const byChain = (all: readonly AuditHead[]) =>
    all.toSorted((one, other) => (one.chain < other.chain ? -1 : 1))
  assert.deepEqual(byChain(await log.heads(0n, 9)), byChain([...last.values()]))
  assert.equal((await log.heads(0n, 2)).length, 2)
  assert.deepEqual(await log.heads(9_000_000_000_000_000n, 9), [])
  await log.close()
})

/** Four chains of two keys, and the heads that somebody kept of them. */
async function filledLog(t: TestContext) {
  const place = await newStorePlace(t)
  const heads: AuditHead[] = []
  const timed = { now: noon - 10n * day, key: first as AuditKey }
  for (let chain = 0; chain < 4; chain += 1) {
    const log = await open(place, timed)
    for (let at = 0; at < 12; at += 1) {
      timed.now += day / 10n
      timed.key = (at < 6 ? first : second) as AuditKey
      await log.write(put(`record-${chain}-${at}`))
      if (at % 5 === 0) heads.push(log.head() ?? assert.fail())
    }
    heads.push(log.head() ?? assert.fail())
    await log.close()
  }
  return { place, heads }
}

test('a log that nobody has changed has no findings', async (t) => {
  const { place, heads } = await filledLog(t)
  const checked = await behindTheBack(place, ({ reader }) => verified(reader, heads))
  assert.deepEqual(checked, { lines: 52, chains: 4, heads: 16, findings: 0, found: [] })
})

/** Numbers that are the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Change = (
  behind: Behind,
  lines: readonly AuditLine[],
  below: (most: number) => number,
) => Promise<string>

const pick = <T>(all: readonly T[], below: (most: number) => number): T =>
  all[below(all.length)] ?? assert.fail()

const set = ({ session, table }: Behind, line: AuditLine, column: string, value: string | bigint) =>
  session.rows({
    text: `update ${table} set ${column} = $3 where chain = $1 and sequence = $2`,
    values: [line.chain, line.sequence, value],
  })

const remove = async ({ session, table }: Behind, lines: readonly AuditLine[]) => {
  for (const { chain, sequence } of lines) {
    const text = `delete from ${table} where chain = $1 and sequence = $2`
    await session.rows({ text, values: [chain, sequence] })
  }
}

const changes: readonly Change[] = [
  async (behind, lines, below) => {
    const line = pick(lines, below)
    const at = below(line.body.length)
    const other = line.body[at] === 'x' ? 'y' : 'x'
    await set(behind, line, 'body', line.body.slice(0, at) + other + line.body.slice(at + 1))
    return 'a character of a body'
  },
  async (behind, lines, below) => {
    const line = pick(lines, below)
    await set(behind, line, 'at', line.at + 1n + BigInt(below(1_000_000)))
    return 'a time'
  },
  async (behind, lines, below) => {
    const line = pick(lines, below)
    await set(behind, line, 'key_id', line.keyId === 'key_1' ? 'key_2' : 'key_3')
    return 'the name of a key'
  },
  async (behind, lines, below) => {
    const line = pick(lines, below)
    const { digest } = linkLines(
      { ...line, sequence: line.sequence - 1n },
      [line.body],
      { id: line.keyId, key: randomBytes(32) },
      line.at,
    ).head
    await set(behind, line, 'digest', digest)
    return 'a digest'
  },
  async (behind, lines, below) => {
    await remove(behind, [pick(lines, below)])
    return 'a line removed'
  },
  async (behind, lines, below) => {
    const { chain } = pick(lines, below)
    const own = lines.filter((line) => line.chain === chain)
    await remove(behind, own.slice(0, 1 + below(own.length - 1)))
    return 'a beginning removed'
  },
  async (behind, lines, below) => {
    const { chain } = pick(lines, below)
    const own = lines.filter((line) => line.chain === chain)
    await remove(behind, own.slice(-1 - below(own.length - 1)))
    return 'an end cut'
  },
  async (behind, lines, below) => {
    const { chain } = pick(lines, below)
    await remove(
      behind,
      lines.filter((line) => line.chain === chain),
    )
    return 'a chain removed'
  },
  async (behind, lines, below) => {
    const one = pick(lines, below)
    const other = pick(
      lines.filter(({ body }) => body !== one.body),
      below,
    )
    await set(behind, one, 'body', other.body)
    await set(behind, other, 'body', one.body)
    return 'two bodies swapped'
  },
  async (behind, lines, below) => {
    const one = pick(lines, below)
    const { chain } = one
    const other = pick(
      lines.filter((line) => line.chain === chain && line !== one),
      below,
    )
    await set(behind, one, 'sequence', 1_000_000n)
    await set(behind, other, 'sequence', one.sequence)
    await set(behind, { ...one, sequence: 1_000_000n }, 'sequence', other.sequence)
    return 'two lines swapped'
  },
  async (behind, lines, below) => {
    const one = pick(lines, below)
    const other = pick(
      lines.filter(({ chain }) => chain !== one.chain),
      below,
    )
    await set(behind, one, 'sequence', 1_000_000n)
    await set(behind, { ...one, sequence: 1_000_000n }, 'chain', other.chain)
    return 'a line moved to another chain'
  },
  async ({ session, table }, lines, below) => {
    const line = pick(lines, below)
    const last = lines.findLast(({ chain }) => chain === line.chain) ?? line
    await session.rows({
      text: `insert into ${table} (chain, sequence, at, key_id, body, digest)
        values ($1, $2, $3, $4, $5, $6)`,
      values: [line.chain, last.sequence + 1n, line.at, line.keyId, line.body, line.digest],
    })
    return 'a line added'
  },
]

test('every edit, removal, swap and cut behind the program’s back is found', async (t) => {
  const { place, heads } = await filledLog(t)
  const rounds = 1000
  const below = seeded(20_261_124)
  const missed: string[] = []
  await behindTheBack(place, async (behind) => {
    const lines = await allLines(behind.reader)
    for (let round = 0; round < rounds; round += 1) {
      await behind.session.run('begin')
      const what = await pick(changes, below)(behind, lines, below)
      const { findings } = await verified(behind.reader, heads)
      await behind.session.run('rollback')
      if (findings === 0) missed.push(`${round}: ${what}`)
    }
    assert.equal((await verified(behind.reader, heads)).findings, 0)
  })
  assert.deepEqual(missed, [])
})

test('a finding names the line and what is wrong with it', async (t) => {
  const { place, heads } = await filledLog(t)
  await behindTheBack(place, async (behind) => {
    const lines = await allLines(behind.reader)
    const [, line, ...rest] = lines
    assert(line !== undefined)
    await set(behind, line, 'body', '{}')
    const next = rest[3] ?? assert.fail()
    await remove(behind, [next])
    const last = lines.at(-1) ?? assert.fail()
    await remove(behind, [last])
    const { found } = await verified(behind.reader, heads)
    assert.deepEqual(
      found.map(({ fault, chain, sequence }) => ({ fault, chain, sequence })),
      [
        { fault: 'cut', chain: last.chain, sequence: last.sequence },
        { fault: 'changed', chain: line.chain, sequence: line.sequence },
        { fault: 'removed', chain: next.chain, sequence: next.sequence },
      ].toSorted((one, other) => (one.fault === 'cut' ? -1 : other.fault === 'cut' ? 1 : 0)),
    )
  })
})

test('pruning leaves an anchor, by which the rest and the older heads still hold', async (t) => {
  const { place, heads } = await filledLog(t)
  const pruning = { before: noon - 7n * day, key: () => second, keyOf }
  await behindTheBack(place, async (behind) => {
    const { reader } = behind
    const lines = await allLines(reader)
    const deleted = await pruneAudit({ ...pruning, reader })
    const left = await allLines(reader)
    assert.equal(deleted, lines.filter(({ at }) => at < pruning.before).length)
    assert.equal(left.length, lines.length - deleted)
    assert.ok(left.every(({ at }) => at >= pruning.before))
    assert.equal((await verified(reader, heads)).findings, 0)
    assert.equal(await pruneAudit({ ...pruning, reader }), 0)
  })
})

test('an anchor that the program has not sealed explains no removal', async (t) => {
  const { place, heads } = await filledLog(t)
  await behindTheBack(place, async ({ reader }) => {
    const [, , third] = await allLines(reader)
    const { chain, sequence, digest } = third ?? assert.fail()
    await reader.replaceBy({ chain, sequence, digest, keyId: 'key_1', seal: '0'.repeat(64) })
    const { found } = await verified(reader, heads)
    assert.deepEqual([...new Set(found.map(({ fault }) => fault))].toSorted(), ['anchor', 'cut'])
  })
})

test('a chain that was tampered with is not pruned, since an anchor would hide it', async (t) => {
  const { place } = await filledLog(t)
  await behindTheBack(place, async (behind) => {
    const { reader } = behind
    const [, line] = await allLines(reader)
    await set(behind, line ?? assert.fail(), 'body', '{}')
    const pruning = { reader, before: noon, key: () => first, keyOf }
    await assert.rejects(pruneAudit(pruning), /^PruneRefused: line 2 of chain .* is not as it was/)
  })
})

test('verifying beside writers gives no false alarm', async (t) => {
  const place = await newStorePlace(t)
  const timed = { now: noon, key: first as AuditKey }
  const logs = await Promise.all([open(place, timed), open(place, timed)])
  const heads: AuditHead[] = []
  let isDone = false
  const writing = Promise.all(
    logs.map(async (log, of) => {
      for (let at = 0; at < 60; at += 1) {
        timed.now += 1n
        await Promise.all([log.write(put(`${of} ${at}`)), log.write(put('x', `client-${at}`))])
        heads.push(log.head() ?? assert.fail())
      }
    }),
  ).finally(() => {
    isDone = true
  })
  await behindTheBack(place, async ({ reader }) => {
    for (let round = 0; !isDone || round === 0; round += 1) {
      assert.deepEqual((await verified(reader, [...heads])).found, [], `round ${round}`)
      // A statement of the embedded store ends within its call.
      await turn()
    }
  })
  await writing
})

test('a full view is found by its record, until its line is pruned', async (t) => {
  const place = await newStorePlace(t)
  const timed = { now: noon, key: first }
  const log = await open(place, timed)
  const { customers: _, ...entry } = put('a')
  const view = { ...entry, action: 'view_in_full', customer: 'acme', view: 'full' } as const
  const person = { type: 'person', issuer: 'https://id.example', subject: 'ada' } as const
  await log.write({ ...view, ids: ['a', 'b'], actor: person, reason: 'ticket "7"', rows: 2 })
  await log.write({ ...view, customer: 'other' })
  await log.write({ ...view, view: 'customer' })
  await log.write(put('a'))
  timed.now = noon + 10n * day
  const { ids: _ids, ...list } = view
  await log.write(list)
  const part = {
    customerId: 'acme',
    kind: 'fiat-accounts',
    id: 'a',
    before: undefined,
    readsMax: 9,
  }
  const seen = () =>
    behindTheBack(place, async ({ reads }) =>
      (await reads.list(part)).map(({ number: _number, ...read }) => read),
    )
  const { actor } = put('a')
  const none = { rows: undefined, reason: undefined }
  const later = { at: timed.now, action: 'view_in_full', actor, shown: 'list', ...none }
  const earlier = { at: noon, action: 'view_in_full', actor: person, shown: 'record', rows: 2 }
  assert.deepEqual(await seen(), [later, { ...earlier, reason: 'ticket "7"' }])
  await behindTheBack(place, ({ reader }) =>
    pruneAudit({ reader, before: noon + day, key: () => first, keyOf }),
  )
  assert.deepEqual(await seen(), [later])
})
