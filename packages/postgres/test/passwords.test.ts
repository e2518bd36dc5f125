import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres-server.ts'
import { execute } from '../../../test/support/test-database.ts'
import { askAt, onPostgres } from '../../records/test/support/postgres-world.ts'

/** Each with what RFC 4013 makes of it. A password that it refuses is used as it is. */
const passwords: readonly (readonly [what: string, password: string, prepared: string])[] = [
  ['ASCII', 'pass word\u0007', 'pass word\u0007'],
  ['a letter with an accent', 'caf\u00e9', 'caf\u00e9'],
  ['a decomposed letter', 'cafe\u0301', 'caf\u00e9'],
  ['a soft hyphen', 'I\u00adX', 'IX'],
  ['nothing but soft hyphens', '\u00ad\u00ad', '\u00ad\u00ad'],
  ['a no-break space', 'a\u00a0b', 'a b'],
  ['an ideographic space', 'a\u3000b', 'a b'],
  ['a zero-width space', 'a\u200bb', 'a b'],
  ['a zero-width joiner', 'a\u200db', 'ab'],
  ['an ordinal indicator', '\u00aa', 'a'],
  ['a Roman numeral', '\u2168', 'IX'],
  ['a ligature', 'o\ufb03ce', 'office'],
  ['full-width letters', '\uff50\uff41\uff53\uff53', 'pass'],
  ['half-width katakana', '\uff8a\uff9f', '\u30d1'],
  ['Hangul jamo', '\u1112\u1161\u11ab', '\ud55c'],
  ['a superscript', 'x\u00b2', 'x2'],
  ['the sign of trade marks', 'acme\u2122', 'acmeTM'],
  ['the sign of ångströms', '\u212b', '\u00e5'.toUpperCase()],
  ['Chinese', '\u5bc6\u7801', '\u5bc6\u7801'],
  ['Hebrew', '\u05d0\u05d1', '\u05d0\u05d1'],
  ['Hebrew beside Latin with a soft hyphen', '\u05d0\u00adb', '\u05d0\u00adb'],
  ['Arabic that ends with a digit', '\u0627\u00ad1', '\u0627\u00ad1'],
  ['a control character beside a soft hyphen', 'a\u00ad\u0007', 'a\u00ad\u0007'],
  ['a code point for private use', '\ue000\u00ad', '\ue000\u00ad'],
  ['an emoji', 'p\u{1f600}\u00ad', 'p\u{1f600}\u00ad'],
  ['an emoji that stands for a word', '\u{1f21a}', '\u{1f21a}'],
  ['a squared letter', '\u{1f130}', '\u{1f130}'],
  ['a deprecated accent', 'a\u0340', 'a\u0340'],
  ['a mark of direction', 'a\u200fb\u00ad', 'a\u200fb\u00ad'],
  ['the sign of trade marks beside Hebrew', '\u05d0\u2122\u05d1', '\u05d0TM\u05d1'],
  ['a radical of Chinese beside Arabic', '\u0627\u2f00\u0628', '\u0627\u4e00\u0628'],
  ['what is no character', '\u{ffffe}\u00ad', '\u{ffffe}\u00ad'],
  ['the last code point', '\u{10ffff}\u00ad', '\u{10ffff}\u00ad'],
  ['the alef symbol', '\u2135', '\u05d0'],
  ['the alef symbol beside Latin', '\u2135b', '\u05d0b'],
  ['the alef symbol beside Hebrew', '\u05d0\u2135\u05d0', '\u05d0\u2135\u05d0'],
  ['a Hebrew letter that is a letter and a mark', '\ufb1d', '\u05d9\u05b4'],
  ['an Arabic mark with a place of its own', '\ufe70', ' \u064b'],
  ['Arabic that ends with a mark', '\u0627\u0653', '\u0627\u0653'],
  ['a katakana mark beside Hebrew', '\u05d0\uff9e\u05d0', '\u05d0\uff9e\u05d0'],
]

/** Texts of every direction, with symbols that normalization takes apart. */
const anyPassword = fc.stringMatching(
  /^(?:[\u05d0-\u05ea\u0621-\u0670\u0671-\u06d5\ufb1d-\ufdfc\ufe70-\ufefc]|[\u2100-\u218f\u2e80-\u2fdf\uff01-\uffee\u{1d400}-\u{1d7ff}]|[!-~\u00a0-\u0233]|[\u0300-\u0345]){1,6}$/u,
)

/** As the server stores and compares them. */
const methods = ['scram-sha-256', 'md5', 'password'] as const

onPostgres('a login with a password', () => {
  let server: PostgresServer
  const url = (role: string, password = '') =>
    server.url(`${role}:${encodeURIComponent(password)}`, 'postgres')
  const asSuperuser = (sql: string) => execute(server.url('postgres', 'postgres'), sql)

  before(async () => {
    server = await startPostgres()
    const file = join(server.folder, 'pg_hba.conf')
    const rules = methods.map((method) => `host all "by ${method}" 127.0.0.1/32 ${method}`)
    writeFileSync(file, `${rules.join('\n')}\n${readFileSync(file, 'utf8')}`)
    await asSuperuser(methods.map((method) => `create role "by ${method}" login`).join('; '))
    await asSuperuser('select pg_reload_conf()')
  })
  after(() => server.stop())

  for (const method of methods) {
    test(`by ${method} accepts every password that PostgreSQL has stored`, async () => {
      const encryption = method === 'md5' ? 'md5' : 'scram-sha-256'
      for (const [what, password] of passwords) {
        await asSuperuser(
          `set password_encryption = '${encryption}'; alter role "by ${method}" password '${password}'`,
        )
        const answered = askAt(url(`by%20${method}`, password), 'select 1')
        assert.deepEqual(await answered.catch(() => 'refused'), [['1']], what)
      }
    })
  }

  test('by SCRAM accepts the prepared form of each password, and no other', async () => {
    for (const [what, password, prepared] of passwords) {
      await asSuperuser(`alter role "by scram-sha-256" password '${password}'`)
      const as = (typed: string) => askAt(url('by%20scram-sha-256', typed), 'select 1')
      const answered = as(prepared).catch(() => 'refused')
      assert.deepEqual(await answered, [['1']], what)
      await assert.rejects(as(`${prepared}x`), { code: '28P01' }, what)
    }
  })

  test('by SCRAM accepts any password, and one between letters to the left', async () => {
    const isAccepted = async (password: string) => {
      const quoted = password.replaceAll("'", "''")
      await asSuperuser(`alter role "by scram-sha-256" password '${quoted}'`)
      const answered = askAt(url('by%20scram-sha-256', password), 'select 1')
      assert.deepEqual(await answered.catch(() => 'refused'), [['1']])
    }
    const property = fc.asyncProperty(anyPassword, fc.boolean(), (text, isBetween) =>
      isAccepted(isBetween ? `\u05d0${text}\u05d0` : text),
    )
    await fc.assert(property, { numRuns: 100 })
  })
})
