import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { isLong } from '../support/long.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { until, untilHolds } from '../support/until.ts'
import { embedded, type Place, postgres } from './support/places.ts'

/**
 * Server and importers are killed with SIGKILL while streams, single records of several customers
 * and files with some of the same customers are stored.
 * Afterwards each request is wholly applied or not at all, every acknowledged change is there, and
 * history agrees with the records. The row of each import tells what is stored, and a request that
 * is repeated with its idempotency key is answered with what happened.
 */

const MOMENTS = isLong ? 50 : 3
/** Every stream gives these accounts its own tag, so they always have one tag together. */
const SHARED = 60
const WRITERS = 4
/** Files that are imported at the same time. */
const IMPORTERS = 2

const scopes = 'ingest:write_fiat_accounts ingest:read_record ingest:read_history'

type Api = {
  /** Undefined if the server did not answer. */
  send(
    method: string,
    path: string,
    body?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string } | undefined>
}

async function run(env: Place['env'], words: readonly string[]): Promise<string> {
  const { code, output, errors } = await runProgram(words, { env })
  assert.equal(code, 0, errors)
  return output
}

async function openApi(
  url: string,
  made: { client_id: string; client_secret: string },
): Promise<Api> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...made })
  const answer = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  return {
    send: async (method, path, body, headers = {}) => {
      try {
        const answered = await fetch(`${url}/ingest/v1${path}`, {
          method,
          headers: { ...headers, authorization: `Bearer ${token}` },
          ...(body !== undefined && { body }),
        })
        return { status: answered.status, text: await answered.text() }
      } catch {
        return undefined
      }
    },
  }
}

/** What was sent and what was acknowledged. */
type Ledger = {
  readonly tags: Set<string>
  acknowledgedTag: string
  /** Of the stream that was sent last, and whether it had an idempotency key. */
  last: { readonly tag: string; readonly hasKey: boolean } | undefined
  readonly sent: number[]
  readonly acknowledged: number[]
  readonly imported: { readonly tag: string; acknowledged: boolean }[]
}

const shared = (tag: string) =>
  Array.from({ length: SHARED }, (_, at) =>
    JSON.stringify(aFiatAccount({ id: anId(at), customer_id: 'acme', ref_id: `${tag} ${at}` })),
  ).join('\n')

const single = (writer: number, count: number) =>
  aFiatAccount({
    id: anId(1000 + writer),
    customer_id: `writer-${writer}`,
    ref_id: `writer ${writer} ${count}`,
  })

const FILE_RECORDS = 200

/** A file has records of its own customer and of those that others write meanwhile. */
const fileOf = (number: number) =>
  Array.from({ length: FILE_RECORDS }, (_, at) =>
    JSON.stringify(
      aFiatAccount({
        id: anId(10_000 + number * FILE_RECORDS + at),
        customer_id: at % (WRITERS + 1) === WRITERS ? 'files' : `writer-${at % (WRITERS + 1)}`,
        ref_id: `file ${number} ${at}`,
      }),
    ),
  ).join('\n')

function postStream(api: Api, tag: string, hasKey: boolean) {
  const headers: Record<string, string> = hasKey ? { 'idempotency-key': tag } : {}
  return api.send('POST', '/fiat-accounts', shared(tag), headers)
}

async function writeUntilKilled(api: Api, ledger: Ledger, moment: number, ends: { now: boolean }) {
  const stream = async (name: string) => {
    for (let round = 0; !ends.now; round += 1) {
      const tag = `tag-${moment}-${name}-${round}`
      ledger.tags.add(tag)
      const hasKey = round % 2 === 0
      ledger.last = { tag, hasKey }
      const answer = await postStream(api, tag, hasKey)
      if (answer === undefined) return
      if (answer.status === 503) continue
      assert.equal(answer.status, 200, answer.text)
      ledger.acknowledgedTag = tag
    }
  }
  const writer = async (name: number) => {
    while (!ends.now) {
      const count = (ledger.sent[name] ?? 0) + 1
      ledger.sent[name] = count
      const { id, ...record } = single(name, count)
      const answer = await api.send('PUT', `/fiat-accounts/${id}`, JSON.stringify(record))
      if (answer === undefined) return
      if (answer.status === 503) continue
      assert.ok(answer.status < 300, answer.text)
      ledger.acknowledged[name] = count
    }
  }
  // One stream, so that the last acknowledged tag is the last one that was stored.
  await Promise.all([stream('a'), ...Array.from({ length: WRITERS }, (_, at) => writer(at))])
}

type Version = {
  readonly stored_at: string
  readonly replaced_at?: string
  readonly record: { readonly ref_id: string }
}

async function historyOf(api: Api, id: string): Promise<readonly Version[]> {
  const versions: Version[] = []
  for (let after = ''; ; ) {
    const answer = await api.send('GET', `/fiat-accounts/${id}/history?limit=1000${after}`)
    if (answer?.status === 404) return []
    assert.equal(answer?.status, 200, answer?.text ?? 'no answer')
    const part = JSON.parse(answer?.text ?? '')
    versions.push(...part.versions)
    if (part.next_page_cursor === undefined) break
    after = `&page_cursor=${part.next_page_cursor}`
  }
  for (const [at, { replaced_at }] of versions.entries()) {
    assert.equal(replaced_at, versions[at + 1]?.stored_at, 'history has no gap and no fork')
  }
  return versions
}

async function assertWhole(api: Api, ledger: Ledger): Promise<void> {
  const histories: (readonly Version[])[] = []
  for (let at = 0; at < SHARED; at += 1) histories.push(await historyOf(api, anId(at)))
  const [first = []] = histories
  const tagOf = ({ record }: Version): string => record.ref_id.split(' ')[0] ?? ''
  const steps = (versions: readonly Version[]) =>
    versions.map((version) => `${version.stored_at} ${tagOf(version)}`)
  for (const versions of histories) assert.deepEqual(steps(versions), steps(first))
  const stored = first.map(tagOf)
  for (const tag of stored) assert.ok(ledger.tags.has(tag), tag)
  if (ledger.acknowledgedTag !== '') assert.ok(stored.includes(ledger.acknowledgedTag))
  for (let writer = 0; writer < WRITERS; writer += 1) {
    const versions = await historyOf(api, anId(1000 + writer))
    const counts = versions.map(({ record }) => Number(record.ref_id.split(' ')[2]))
    // A count that was sent and not acknowledged may be missing; it is never sent again.
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    )
    assert.ok((counts.at(-1) ?? 0) >= (ledger.acknowledged[writer] ?? 0))
    assert.ok((counts.at(-1) ?? 0) <= (ledger.sent[writer] ?? 0))
    const current = await api.send('GET', `/fiat-accounts/${anId(1000 + writer)}`)
    const ref = versions.at(-1)?.record.ref_id
    if (ref !== undefined) assert.equal(JSON.parse(current?.text ?? '').ref_id, ref)
  }
}

/** Each stream that is stored makes one version, and each file has records of its own. */
async function assertRows(place: Place, api: Api, ledger: Ledger): Promise<void> {
  await untilHolds('no import of a killed process runs', async () => {
    await run(place.env, ['imports', '--limit', '1'])
    const running = await place.ask("select id from bursar.import where state = 'running'")
    return running.length === 0
  })
  const storedBy = async (who: string) => {
    const [row] = await place.ask(`select count(*) from bursar.import
      where state = 'stored' and client_id is ${who} null and added + changed > 0`)
    return Number(row?.[0])
  }
  const streams = async () => [await storedBy('not'), (await historyOf(api, anId(0))).length]
  const [rows = 0, versions = 0] = await streams()
  assert.equal(rows, versions, 'rows of streams')
  const lines = (await run(place.env, ['export', 'fiat-accounts'])).split('\n')
  const isStored = ({ tag }: { tag: string }) => lines.some((line) => line.includes(`"${tag} 0"`))
  assert.equal(await storedBy(''), ledger.imported.filter(isStored).length, 'rows of files')
  const { last } = ledger
  if (last?.hasKey !== true) return
  const wasStored = (await historyOf(api, anId(0))).some(({ record }) =>
    record.ref_id.startsWith(`${last.tag} `),
  )
  const again = await postStream(api, last.tag, true)
  assert.equal(again?.status, 200, again?.text ?? 'no answer')
  ledger.acknowledgedTag = last.tag
  const more = wasStored ? 0 : 1
  assert.deepEqual(await streams(), [rows + more, versions + more], `${last.tag} was repeated`)
}

async function assertFiles(env: Place['env'], ledger: Ledger): Promise<void> {
  const lines = (await run(env, ['export', 'fiat-accounts'])).split('\n')
  for (const { tag, acknowledged } of ledger.imported) {
    const found = lines.filter((line) => line.includes(`"${tag} `)).length
    assert.ok(found === FILE_RECORDS || (found === 0 && !acknowledged), `${tag}: ${found}`)
  }
}

async function killAtRandom(place: Place): Promise<void> {
  const env = { ...place.env, PORT: '0', LOG_LEVEL: 'error' }
  const words = ['client', 'create', '--operator', '--name', 'core', '--scope', scopes, '--json']
  const made = JSON.parse(await run(env, words))
  const { client_id, client_secret } = made
  const serve = async (): Promise<{ program: Program; api: Api }> => {
    const program = startProgram(['serve', '--json'], { env })
    const { url } = JSON.parse(await program.firstLine)
    return { program, api: await openApi(url, { client_id, client_secret }) }
  }
  const ledger: Ledger = {
    tags: new Set<string>(),
    acknowledgedTag: '',
    last: undefined,
    sent: [],
    acknowledged: [],
    imported: [],
  }
  let { program, api } = await serve()
  try {
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const ends = { now: false }
      const written = writeUntilKilled(api, ledger, moment, ends)
      const importing = Array.from({ length: IMPORTERS }, (_, at) => {
        const number = moment * IMPORTERS + at
        const file = { tag: `file ${number}`, acknowledged: false }
        ledger.imported.push(file)
        const options = { env, stdin: fileOf(number) }
        const importer = startProgram(['import', 'fiat-accounts', '-'], options)
        const finished = importer.ended.then((code) => {
          file.acknowledged = code === 0
        })
        return { importer, finished }
      })
      // At whatever moment they are killed, the store must be whole.
      await passing(randomInt(30, 1500))
      // A stream after a start takes longer, because its process starts too.
      if (moment === 0) await until(() => ledger.acknowledgedTag !== '')
      const programs = [program, ...importing.map(({ importer }) => importer)]
      await Promise.all(programs.map((each) => each.kill('SIGKILL')))
      ends.now = true
      await Promise.all([written, ...importing.map(({ finished }) => finished)])
      ;({ program, api } = await serve())
      await assertWhole(api, ledger)
      await assertRows(place, api, ledger)
    }
    await assertFiles(env, ledger)
    assert.ok(ledger.acknowledgedTag !== '', 'some stream was acknowledged')
  } finally {
    await program.kill('SIGKILL')
  }
}

describe('kill -9 while records are ingested', () => {
  const places: Place[] = []
  after(() => Promise.all(places.map((place) => place.remove())))
  const opened = async (place: Place) => {
    places.push(place)
    return place
  }
  test('leaves the embedded store whole', async () => killAtRandom(await opened(await embedded())))
  test('leaves PostgreSQL whole', async () => killAtRandom(await opened(await postgres())))
})
