import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { isLong } from '../support/long.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { send } from './support/client.ts'
import { serve } from './support/cluster.ts'
import { embedded, type Place, postgres } from './support/places.ts'

/** What a server answers while `reindex` is killed beside it, and what is left to write. */

const MOMENTS = isLong ? 20 : 4
const RECORDS = 4000

const accountOf = (at: number, bank = 'First') =>
  aFiatAccount({ id: anId(at), ref_id: `r${at}`, metadata: { label: `${bank} ${at}` } })

async function run({ env }: Place, words: readonly string[], stdin = ''): Promise<string> {
  const { code, output, errors } = await runProgram(words, { env, stdin })
  assert.equal(code, 0, `${words.join(' ')}: ${errors}`)
  return output
}

async function tokenOf(place: Place, url: string): Promise<string> {
  const scopes = 'ingest:write_fiat_accounts ingest:read_record'
  const words = ['client', 'create', '--operator', '--name', 'x', '--scope', scopes, '--json']
  const { client_id, client_secret } = JSON.parse(await run(place, words))
  const body = `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`
  const answer = await send(url, '/oauth2/token', { method: 'POST', body })
  assert.ok(answer.kind === 'answered')
  return JSON.parse(answer.text).access_token
}

/** Runs a statement past the program, beside its server. */
async function change({ env, ask, superuserUrl }: Place, sql: string): Promise<void> {
  if (superuserUrl !== undefined) return void (await ask(sql))
  using db = new DatabaseSync(env.DATABASE_URL?.slice('sqlite:'.length) ?? '', { timeout: 10_000 })
  db.exec(sql.replaceAll('bursar.', ''))
}

/** What somebody changes past the program in a part of the records. */
const changes = [
  'delete from bursar.unique_claim where value < $middle',
  'delete from bursar.record_term where scope > 0',
  `update bursar.fiat_account set body = replace(body, 'PENDING', 'APPROVED') where ref_id like '%7'`,
  'update bursar.revision set live = live + 5',
]

for (const [engine, open] of [
  ['the embedded store', embedded],
  ['PostgreSQL', postgres],
] as const) {
  describe(engine, () => {
    test('answers every request while reindex is killed beside it, and is whole after its last run', async (t) => {
      const place = await open()
      t.after(place.remove)
      const env = {
        ...place.env,
        BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
        BURSAR_PUBLIC_URL: 'http://bursar.test',
        LOG_LEVEL: 'fatal',
      }
      const own = { ...place, env }
      if (place.superuserUrl === undefined) await run(own, ['migrate'])
      const records = Array.from({ length: RECORDS }, (_, at) => JSON.stringify(accountOf(at)))
      await run(own, ['import', 'fiat-accounts', '-'], records.join('\n'))
      const { url, program } = await serve(env)
      t.after(() => program.kill('SIGKILL'))
      const token = await tokenOf(own, url)
      const wrong: string[] = []
      let isEnding = false
      let puts = 0
      const writing = (async () => {
        for (let at = 0; !isEnding; at += 1) {
          const { id, ...record } = accountOf(randomInt(RECORDS), `Bank ${at}`)
          const path = `/ingest/v1/fiat-accounts/${id}`
          const body = JSON.stringify({ ...record, updated_at: undefined })
          const put = await send(url, `${path}?allow_older=true`, { method: 'PUT', token, body })
          if (put.kind === 'cut' || put.status !== 200) wrong.push(JSON.stringify(put))
          const got = await send(url, path, { token })
          if (got.kind === 'cut' || !got.text.includes(`"Bank ${at} `)) {
            wrong.push(JSON.stringify(got))
          }
          puts += 1
        }
      })()
      try {
        for (let moment = 0; moment < MOMENTS; moment += 1) {
          const middle = `'${anId(RECORDS / 2)}'`
          for (const sql of changes) await change(place, sql.replace('$middle', middle))
          const command = startProgram(['reindex', '--yes'], { env })
          await passing(randomInt(300, 2500))
          await command.kill('SIGKILL')
        }
        await run(own, ['reindex', '--yes'])
      } finally {
        isEnding = true
        await writing
      }
      assert.deepEqual(wrong, [])
      assert.ok(puts > 0)
      t.diagnostic(`${puts} PUTs, each read back, beside ${MOMENTS} killed commands`)
      const { records: compared, difference_count: left } = JSON.parse(
        await run(own, ['reindex', '--json']),
      )
      assert.deepEqual([compared, left], [RECORDS, 0])
    })
  })
}
