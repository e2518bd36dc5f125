import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { retryWhileLocked } from '../../packages/sqlite/src/locks.ts'
import { auditOf } from '../support/audit.ts'
import { isLong } from '../support/long.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { until } from '../support/until.ts'
import { embedded, type Place, postgres } from './support/places.ts'

/** What the audit log has when its writer is killed, or cannot write it. */

const MOMENTS = isLong ? 50 : 4
const WORKERS = 8

const scopes = 'ingest:write_fiat_accounts ingest:read_record'

async function run(env: Place['env'], words: readonly string[]): Promise<string> {
  const { code, output, errors } = await runProgram(words, { env })
  assert.equal(code, 0, errors)
  return output
}

/** A client of the operator that writes records and sees them in full. */
async function newClient({ env }: Place): Promise<Record<string, string>> {
  const words = ['client', 'create', '--operator', '--name', 'core', '--scope', scopes, '--json']
  const { client_id = '', client_secret = '' } = JSON.parse(await run(env, words))
  return { client_id, client_secret }
}

async function serve({ env }: Place, client: Readonly<Record<string, string>>) {
  const program = startProgram(['serve', '--port', '0', '--json'], { env })
  const { url } = JSON.parse(await program.firstLine)
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...client })
  const answer = await fetch(`${url}/oauth2/token`, { method: 'POST', body })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  /** The status; undefined if the server did not answer. */
  const send = async (method: 'GET' | 'PUT', id: string): Promise<number | undefined> => {
    try {
      const answered = await fetch(`${url}/ingest/v1/fiat-accounts/${id}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(method === 'PUT' && { body: JSON.stringify(aFiatAccount({ id })) }),
      })
      await answered.arrayBuffer()
      return answered.status
    } catch {
      return undefined
    }
  }
  return { program, send }
}

for (const [engine, open] of [
  ['the embedded store', embedded],
  ['PostgreSQL', postgres],
] as const) {
  describe(engine, () => {
    test('has an entry for each answer that was received before a kill -9', async () => {
      const place = await open()
      try {
        if (place.superuserUrl === undefined) await run(place.env, ['migrate'])
        const client = await newClient(place)
        const acknowledged = { put: new Set<string>(), view_in_full: new Set<string>() }
        let next = 0
        for (let moment = 0; moment < MOMENTS; moment += 1) {
          const { program, send } = await serve(place, client)
          const before = acknowledged.put.size
          const worker = async () => {
            for (;;) {
              const id = anId(next)
              next += 1
              const stored = await send('PUT', id)
              if (stored === undefined) return
              // A busy machine may refuse a request. Then there is no answer to have an entry.
              if (stored === 503) continue
              assert.equal(stored, 201)
              acknowledged.put.add(id)
              const shown = await send('GET', id)
              if (shown === undefined) return
              if (shown === 503) continue
              assert.equal(shown, 200)
              acknowledged.view_in_full.add(id)
            }
          }
          const working = Array.from({ length: WORKERS }, worker)
          const more = randomInt(1, 100)
          await until(() => acknowledged.put.size >= before + more)
          await program.kill('SIGKILL')
          await Promise.all(working)
        }
        const located = { ...place, commandUrl: '' }
        const entries = await auditOf(located)
        for (const action of ['put', 'view_in_full'] as const) {
          const own = entries.filter((entry) => entry.action === action)
          const written = new Set(own.flatMap(({ ids = [] }) => ids))
          const missing = [...acknowledged[action]].filter((id) => !written.has(id))
          assert.ok(acknowledged[action].size >= MOMENTS, action)
          assert.deepEqual(missing, [], action)
        }
        const { superuserUrl: owner } = place
        const checked = await run(
          { ...place.env, ...(owner !== undefined && { DATABASE_URL: owner }) },
          ['audit', 'verify', '--json'],
        )
        const { findings, chains } = JSON.parse(checked)
        assert.deepEqual([findings, chains], [0, MOMENTS + 1])
      } finally {
        await place.remove()
      }
    })
  })
}

const credentialsOf = ({ env }: Place): string =>
  String(env.DATABASE_URL).replace(/^sqlite:(.*)\.db$/, '$1.credentials.db')

test('a full view whose entry cannot be written is 503, and works again when it can', async () => {
  const place = await embedded()
  await run(place.env, ['migrate'])
  const { program, send } = await serve(place, await newClient(place))
  try {
    assert.equal(await send('PUT', anId(1)), 201)
    using db = new DatabaseSync(credentialsOf(place))
    await retryWhileLocked(() => db.exec('begin immediate'))
    const [shown, put] = await Promise.all([send('GET', anId(1)), send('PUT', anId(2))])
    assert.deepEqual([shown, put], [503, 503])
    db.exec('rollback')
    assert.equal(await send('GET', anId(1)), 200)
    // The record is stored. Its caller repeats the request, which now has its entry.
    assert.equal(await send('PUT', anId(2)), 200)
  } finally {
    await program.kill('SIGKILL')
  }
})
