import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemTime } from '../../sdk/src/system-time.ts'
import { type AccessToken, openTokens } from '../../sdk/src/tokens.ts'
import { takeTime } from '../support/virtual-time.ts'

const timeoutMs = 30_000

/** Tokens `t1`, `t2` … whose requests are answered when the test says so. */
function world() {
  const asked: PromiseWithResolvers<AccessToken>[] = []
  const tokens = openTokens(() => {
    const request = Promise.withResolvers<AccessToken>()
    asked.push(request)
    return request.promise
  }, timeoutMs)
  const answer = (life?: number) => {
    const token = { access_token: `t${asked.length}`, ...(life && { expires_in: life }) }
    asked.at(-1)?.resolve(token)
  }
  const first = async (life?: number) => {
    const token = tokens.current()
    answer(life)
    await token
  }
  return { tokens, asked, answer, first }
}

describe('a token', () => {
  test('is requested once for concurrent callers, and kept', async () => {
    const { tokens, asked, answer } = world()
    const callers = Array.from({ length: 50 }, () => tokens.current())
    answer(900)
    assert.deepEqual(new Set(await Promise.all(callers)), new Set(['t1']))
    assert.equal(await tokens.current(), 't1')
    assert.equal(asked.length, 1)
  })

  for (const [name, life, renewedMs] of [
    ['is renewed once in its last minute', 900, 840_000],
    ['of a short life is renewed once in its last fifth', 10, 8000],
    ['without `expires_in` is renewed once after four of five minutes', undefined, 240_000],
  ] as const) {
    test(`${name}, while the old one serves`, async () => {
      using time = takeTime()
      const { tokens, first, asked, answer } = world()
      await first(life)
      await time.advance(renewedMs - 1)
      assert.deepEqual([await tokens.current(), asked.length], ['t1', 1])
      await time.advance(1)
      assert.deepEqual([await tokens.current(), await tokens.current()], ['t1', 't1'])
      assert.equal(asked.length, 2)
      answer(900)
      await asked[1]?.promise
      assert.deepEqual([await tokens.current(), asked.length], ['t2', 2])
    })
  }

  test('still serves if its early renewal fails, and the next caller tries again', async () => {
    using time = takeTime()
    const { tokens, first, asked } = world()
    await first(900)
    await time.advance(850_000)
    await tokens.current()
    asked[1]?.reject(new Error('no token'))
    await assert.rejects(asked[1]?.promise ?? assert.fail())
    assert.equal(await tokens.current(), 't1')
    assert.equal(asked.length, 3)
  })

  test('that has expired serves no longer, and all its callers wait for one renewal', async () => {
    using time = takeTime()
    const { tokens, first, asked, answer } = world()
    await first(900)
    await time.advance(899_999)
    assert.equal(await tokens.current(), 't1')
    await time.advance(1)
    const callers = [tokens.current(), tokens.current()]
    answer(900)
    assert.deepEqual([await Promise.all(callers), asked.length], [['t2', 't2'], 2])
  })

  test('that was refused is replaced, but not a newer one', async () => {
    const { tokens, first, asked, answer } = world()
    await first(900)
    tokens.refuse('t1')
    const second = tokens.current()
    answer(900)
    assert.equal(await second, 't2')
    tokens.refuse('t1')
    assert.equal(await tokens.current(), 't2')
    assert.equal(asked.length, 2)
  })

  test('whose request fails fails all its callers, and the next caller tries again', async () => {
    const { tokens, asked, answer } = world()
    const callers = [tokens.current(), tokens.current()]
    asked[0]?.reject(new Error('no token'))
    for (const caller of callers) await assert.rejects(caller, /no token/)
    const next = tokens.current()
    answer(900)
    assert.equal(await next, 't2')
  })

  test('whose request gets no outcome is begun anew once an attempt has had its time', async () => {
    using time = takeTime()
    const { tokens, asked, answer } = world()
    const caller = { isOver: false }
    const lost = tokens.current(caller)
    await time.advance(10_000)
    const waiting = tokens.current()
    await time.advance(20_999)
    assert.equal(asked.length, 1)
    await time.advance(1)
    assert.equal(asked.length, 2)
    answer(900)
    assert.deepEqual(await Promise.all([lost, waiting]), ['t2', 't2'])
    assert.deepEqual([await tokens.current(), asked.length], ['t2', 2])
  })

  test('whose early renewal gets no outcome is renewed again, while the old one serves', async () => {
    using time = takeTime()
    const { tokens, first, asked, answer } = world()
    await first(900)
    await time.advance(845_000)
    assert.deepEqual([await tokens.current(), asked.length], ['t1', 2])
    await time.advance(30_999)
    assert.deepEqual([await tokens.current(), asked.length], ['t1', 2])
    await time.advance(1)
    assert.deepEqual([await tokens.current(), asked.length], ['t1', 3])
    answer(900)
    await asked[2]?.promise
    assert.deepEqual([await tokens.current(), asked.length], ['t3', 3])
  })

  test('is requested anew at once if the caller that began the request is over', async () => {
    using time = takeTime()
    const { tokens, first, asked, answer } = world()
    await first(10)
    await time.advance(9000)
    const caller = { isOver: false }
    assert.equal(await tokens.current(caller), 't1')
    caller.isOver = true
    assert.deepEqual([await tokens.current(), asked.length], ['t1', 2])
    await time.advance(1000)
    const callers = [tokens.current(), tokens.current()]
    assert.equal(asked.length, 3)
    answer(900)
    assert.deepEqual(await Promise.all(callers), ['t3', 't3'])
  })

  test('whose request is repeated is not begun anew meanwhile', async () => {
    using time = takeTime()
    let count = 0
    const answered = Promise.withResolvers<AccessToken>()
    const tokens = openTokens((extend) => {
      count += 1
      systemTime.after(29_000, () => extend(60_000))
      return answered.promise
    }, timeoutMs)
    const callers = [tokens.current(), tokens.current()]
    await time.advance(119_999)
    assert.equal(count, 1)
    answered.resolve({ access_token: 't1' })
    assert.deepEqual(await Promise.all(callers), ['t1', 't1'])
    assert.equal(time.waiting(), 0)
  })

  test('that no header can hold is refused, without the token in the error', async () => {
    for (const token of ['', 'se\ncret', 'secret\n', 'se cret', JSON.parse('null')]) {
      const tokens = openTokens(async () => ({ access_token: token }), timeoutMs)
      const message = 'the access_token is no token of RFC 6750'
      await assert.rejects(tokens.current(), { name: 'TypeError', message })
    }
  })
})
