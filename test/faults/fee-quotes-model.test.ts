import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type QuoteChild,
  startQuoteChild,
} from '../../packages/records/test/support/quote-child.ts'
import {
  aQuote,
  aWithdrawal,
  idOf,
  minutes,
  noon,
} from '../../packages/records/test/support/quotes.ts'
import { openStorePlace, type StorePlace } from '../support/store-place.ts'

/**
 * Two processes issue and consume quotes, race for them, and are killed with SIGKILL at any time.
 * The model knows what was acknowledged. No acknowledged change may be lost, and no fee may go to
 * two withdrawals.
 */

type Quoted = {
  /** `maybe`: the process was killed before it answered, and the quote was not seen since. */
  stored: 'yes' | 'maybe'
  expiresAt: bigint
  /** The withdrawal that is known to have consumed it. */
  owner: string | undefined
  /** Withdrawals whose process was killed before it answered. */
  possible: Set<string>
}

type Model = { now: bigint; issued: Quoted[] }
type Real = { place: StorePlace; children: QuoteChild[] }
type Step = fc.AsyncCommand<Model, Real>

class Issue implements Step {
  readonly #dying: boolean
  constructor(dying: boolean) {
    this.#dying = dying
  }
  check = () => true
  async run(model: Model, real: Real) {
    const expiresAt = model.now + minutes(10)
    const issue = aQuote({ id: idOf(model.issued.length) })
    const sent = real.children[0]?.send({ at: model.now, issue })
    if (this.#dying) await restart(real, 0)
    const answer = await sent
    const stored = answer === undefined ? 'maybe' : 'yes'
    if (answer !== undefined) assert.equal(answer.outcome, 'stored')
    model.issued.push({ stored, expiresAt, owner: undefined, possible: new Set() })
  }
  toString = () => (this.#dying ? 'issue, killed' : 'issue')
}

class Wait implements Step {
  check = () => true
  async run(model: Model, { place }: Real) {
    model.now += minutes(4)
    await place.setClock(model.now)
  }
  toString = () => 'wait'
}

class Race implements Step {
  readonly #of: number
  readonly #who: readonly number[]
  readonly #dying: boolean
  constructor(of: number, who: readonly number[], dying: boolean) {
    this.#of = of
    this.#who = who
    this.#dying = dying
  }
  check = (model: Readonly<Model>) => model.issued.length > 0
  async run(model: Model, real: Real) {
    const at = this.#of % model.issued.length
    const quoted = model.issued[at]
    assert.ok(quoted)
    const racing = this.#who.map((who, turn) => {
      const withdrawal = `withdrawal-${who}`
      const consume = aWithdrawal({ id: idOf(at), withdrawal })
      return { withdrawal, answer: real.children[turn % 2]?.send({ at: model.now, consume }) }
    })
    if (this.#dying) await restart(real, 1)
    // Either of two requests of one withdrawal may be the first.
    if (model.now < quoted.expiresAt) {
      for (const who of this.#who.filter((each, turn, all) => all.indexOf(each) !== turn)) {
        quoted.possible.add(`withdrawal-${who}`)
      }
    }
    for (const { withdrawal, answer } of racing) judge(model, quoted, withdrawal, await answer)
  }
  toString = () => `race of ${this.#who} for ${this.#of}${this.#dying ? ', killed' : ''}`
}

function judge(
  { now }: Model,
  quoted: Quoted,
  withdrawal: string,
  answer: { outcome: string; again?: boolean } | undefined,
) {
  const isExpired = now >= quoted.expiresAt
  if (answer === undefined) {
    if (!isExpired) quoted.possible.add(withdrawal)
    return
  }
  switch (answer.outcome) {
    case 'unknown':
      assert.equal(quoted.stored, 'maybe', 'an acknowledged quote is lost')
      return
    case 'consumed': {
      const known = quoted.owner ?? withdrawal
      assert.equal(known, withdrawal, 'a quote was honoured twice')
      const wasTheirs = quoted.owner === withdrawal || quoted.possible.has(withdrawal)
      if (answer.again === true) assert.ok(wasTheirs, 'the first answer says again')
      else assert.ok(!isExpired, 'an expired quote was honoured')
      quoted.stored = 'yes'
      quoted.owner = withdrawal
      return
    }
    case 'taken':
      quoted.stored = 'yes'
      assert.notEqual(quoted.owner, withdrawal, 'a withdrawal has lost its fee')
      return
    case 'expired':
      quoted.stored = 'yes'
      assert.ok(isExpired, 'a quote expired early')
      assert.equal(quoted.owner, undefined, 'a consumed quote was forgotten')
      return
    default:
      assert.fail(answer.outcome)
  }
}

async function restart(real: Real, at: number): Promise<void> {
  await real.children[at]?.kill()
  real.children[at] = startQuoteChild(real.place.where)
}

const steps = [
  fc.constant(new Issue(false)),
  fc.constant(new Issue(false)),
  fc.constant(new Wait()),
  fc.boolean().map((dying) => new Issue(dying)),
  fc
    .tuple(fc.nat(30), fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }), fc.nat(3))
    .map(([of, who, dying]) => new Race(of, who, dying === 0)),
  fc
    .tuple(fc.nat(30), fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }))
    .map(([of, who]) => new Race(of, who, false)),
]

test('no quote is honoured twice or lost, even after SIGKILL', { timeout: 600_000 }, async () => {
  const numRuns = process.env.BURSAR_TEST_LONG === '1' ? 60 : 2
  const maxCommands = 40
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands, size: 'max' }), async (commands) => {
      const place = await openStorePlace()
      await place.setClock(noon)
      const { where } = place
      // Creates the file before two processes open it.
      await (await place.openQuotes()).close()
      const real: Real = { place, children: [startQuoteChild(where), startQuoteChild(where)] }
      const model: Model = { now: noon, issued: [] }
      try {
        await fc.asyncModelRun(() => ({ model, real }), commands)
        await settle(model, place)
      } finally {
        await Promise.all(real.children.map((child) => child.kill()))
        await place.close()
      }
    }),
    { seed: 20_261_121, numRuns, endOnFailure: true },
  )
})

/** At the end another process checks that every acknowledged change is on disk. */
async function settle({ issued }: Model, place: StorePlace): Promise<void> {
  const quotes = await place.openQuotes()
  for (const [at, { stored, owner, possible }] of issued.entries()) {
    const found = await quotes.operator.find(idOf(at))
    if (stored === 'yes') assert.ok(found, 'an acknowledged quote is lost')
    const holder = found?.consumption?.withdrawal
    if (owner !== undefined) assert.equal(holder, owner)
    else if (holder !== undefined) assert.ok(possible.has(holder), 'consumed by nobody who asked')
  }
  await quotes.close()
}
