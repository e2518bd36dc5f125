import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AccessToken, openTokens } from '../../sdk/src/tokens.ts'

/** Tokens `t1`, `t2` … whose requests are answered when the test says so. */
function world() {
  let now = 0
  const asked: PromiseWithResolvers<AccessToken>[] = []
  const tokens = openTokens(
    () => {
      const request = Promise.withResolvers<AccessToken>()
      asked.push(request)
      return request.promise
    },
    () => now,
  )
  const answer = (life?: number) => {
    const token = { access_token: `t${asked.length}`, ...(life && { expires_in: life }) }
    asked.at(-1)?.resolve(token)
  }
  return {
    tokens,
    asked,
    answer,
    first: async (life?: number) => {
      const token = tokens.current()
      answer(life)
      await token
    },
    advance: (seconds: number) => {
      now += seconds * 1000
    },
  }
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

  test('is renewed once in its last minute, while the old one serves', async () => {
    const { tokens, first, asked, answer, advance } = world()
    await first(900)
    advance(839)
    assert.deepEqual([await tokens.current(), asked.length], ['t1', 1])
    advance(2)
    assert.deepEqual([await tokens.current(), await tokens.current()], ['t1', 't1'])
    assert.equal(asked.length, 2)
    answer(900)
    await asked[1]?.promise
    assert.equal(await tokens.current(), 't2')
    assert.equal(asked.length, 2)
  })

  test('of a short life is renewed in its last fifth', async () => {
    const { tokens, first, asked, advance } = world()
    await first(10)
    advance(7.9)
    await tokens.current()
    assert.equal(asked.length, 1)
    advance(0.2)
    await tokens.current()
    assert.equal(asked.length, 2)
  })

  test('still serves if its early renewal fails, and the next caller tries again', async () => {
    const { tokens, first, asked, advance } = world()
    await first(900)
    advance(850)
    await tokens.current()
    asked[1]?.reject(new Error('no token'))
    await assert.rejects(asked[1]?.promise ?? assert.fail())
    assert.equal(await tokens.current(), 't1')
    assert.equal(asked.length, 3)
  })

  test('that has expired serves no longer', async () => {
    const { tokens, first, answer, advance } = world()
    await first(900)
    advance(900)
    const second = tokens.current()
    answer(900)
    assert.equal(await second, 't2')
  })

  test('without `expires_in` is kept for five minutes', async () => {
    const { tokens, first, asked, advance } = world()
    await first()
    advance(239)
    await tokens.current()
    assert.equal(asked.length, 1)
    advance(2)
    await tokens.current()
    assert.equal(asked.length, 2)
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

  test('that no header can hold is refused, without the token in the error', async () => {
    for (const token of ['', 'se\ncret', 'secret\n', 'se cret', JSON.parse('null')]) {
      const tokens = openTokens(
        async () => ({ access_token: token }),
        () => 0,
      )
      const message = 'the access_token is no token of RFC 6750'
      await assert.rejects(tokens.current(), { name: 'TypeError', message })
    }
  })
})
