import assert from 'node:assert/strict'
import { operatorScopes } from '@bursar/contract'
import { longTest } from '../support/long.ts'
import { withdrawal } from '../support/operation-calls.ts'
import { runProgram } from '../support/program.ts'
import { untilHolds } from '../support/until.ts'
import { consume, quote } from './support/acts.ts'
import { askServer } from './support/ask-server.ts'
import { type Answer, send, statusOf } from './support/client.ts'
import {
  askForToken,
  createSchema,
  type Deployment,
  openDeployment,
  tokenOf,
  untilTokens,
} from './support/cluster.ts'
import { type Customer, customers, idOf, placeCount } from './support/ledger.ts'
import { type BackedUp, startBackedUp } from './support/pgbackrest.ts'
import { documentedWords } from './support/running-document.ts'

const GENERATIONS = 12
const ANSWERS = 10_000
const CLIENTS = 16

longTest('pgBackRest restores every answer of a named second', async (t) => {
  await using opened = new AsyncDisposableStack()
  const database = await startBackedUp(opened)
  await createSchema(database.server)
  const nodes = { nodes: [database.server], standbys: [], untilLevel: async () => {} }
  const cluster = await openDeployment(nodes, { servers: 1 }, opened)
  t.after(() => cluster.close())
  const [url = ''] = cluster.urls
  await cluster.addClient('payouts', null, operatorScopes)
  const beganAt = Date.now()
  for (let generation = 2; generation <= GENERATIONS / 2; generation += 1) {
    await cluster.importGeneration(customers, generation)
  }
  database.run('stanza-create', (block) => withoutLine(block, 'backup'))
  const backupMs = timed(() => database.run('bursar backup', (block) => lineWith(block, 'backup')))
  for (let generation = GENERATIONS / 2; generation <= GENERATIONS; generation += 1) {
    await cluster.importGeneration(customers, generation)
  }
  const quoteId = idOfAnswer(await quote(url, cluster.tokens.get('ash')))
  const second = await nextSecond(database)
  const questions = questionsUntil(beganAt, Date.parse(second))
  const before = await answersTo(cluster, questions)

  const lost = await consume(url, await tokenOf(url, 'payouts'), quoteId, 'payout-7')
  assert.equal(statusOf(lost), 200)
  const consumedAt = new Date().toISOString()
  for (let generation = GENERATIONS + 1; generation <= GENERATIONS + 5; generation += 1) {
    await cluster.importGeneration(customers, generation)
  }
  const changed = await answersTo(cluster, questions.slice(0, 200))
  assert.notDeepEqual(changed, before.slice(0, 200), 'the later writes change no answer')
  await untilArchived(database)
  await Promise.all(cluster.servers.map(({ program }) => program.kill('SIGKILL')))
  await database.lose()

  const restoringAt = performance.now()
  const target = second.replace('T', ' ').replace('Z', '+00')
  database.run('--type=time', (block) => block.replace(/--target="[^"]*"/, `--target="${target}"`))
  const restoredMs = performance.now() - restoringAt
  await database.server.restart()
  await untilHolds('the restored database takes writes', () => isPrimary(database))
  const startedMs = performance.now() - restoringAt
  await operate(cluster, withValue(documentedWords('--restored-to'), '--restored-to', second))
  for (const server of cluster.servers) await server.restart()
  assert.equal(statusOf(await askForToken(url, 'ash')), 503)
  await operate(cluster, ['reconcile', '--erasures', '/dev/null', '--yes'])
  await operate(cluster, documentedWords('reconcile --clients-confirmed'))
  await untilTokens(cluster.urls)
  const unreconciled = await consume(url, await tokenOf(url, 'payouts'), quoteId, 'payout-7')
  assert.equal(statusOf(unreconciled), 409)
  await operate(cluster, consumeWords(quoteId, consumedAt))
  await operate(cluster, documentedWords('reconcile --reconciled'))
  const readyMs = performance.now() - restoringAt
  const after = await answersTo(cluster, questions)
  const different = before.findIndex((answer, at) => answer !== after[at])
  assert.equal(
    different,
    -1,
    `${questions[different]?.path}: ${before[different]}, ${after[different]}`,
  )
  const again = await consume(url, await tokenOf(url, 'payouts'), quoteId, 'payout-7')
  assert.equal(statusOf(again), 200)
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  t.diagnostic(
    `${before.length} answers are equal; backup ${seconds(backupMs)} s; restored in ` +
      `${seconds(restoredMs)} s, PostgreSQL took writes after ${seconds(startedMs)} s, customers ` +
      `were answered and fees reconciled after ${seconds(readyMs)} s`,
  )
})

const lineWith = (block: string, text: string): string =>
  block
    .split('\n')
    .filter((line) => line.endsWith(text))
    .join('\n')

const withoutLine = (block: string, text: string): string =>
  block
    .split('\n')
    .filter((line) => !line.endsWith(text))
    .join('\n')

function timed(work: () => void): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}

/** A second after every write so far, by the clock of the database. Waits until it is over. */
async function nextSecond({ server }: BackedUp): Promise<string> {
  const [[second] = []] = await askServer(
    server,
    `select to_char((date_trunc('second', clock_timestamp()) + interval '1 second') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  )
  assert.ok(second)
  const isOver = async () => {
    const [[over] = []] = await askServer(server, `select clock_timestamp() > '${second}'`)
    return over === 't'
  }
  await untilHolds('the second is over', isOver)
  return second
}

/** The log of every write so far is in the repository. */
async function untilArchived({ server }: BackedUp): Promise<void> {
  const [[file] = []] = await askServer(server, 'select pg_walfile_name(pg_switch_wal())')
  const isDone = async () => {
    const [[last] = []] = await askServer(server, 'select last_archived_wal from pg_stat_archiver')
    return String(last) >= String(file)
  }
  await untilHolds('the log is archived', isDone)
}

const isPrimary = async ({ server }: BackedUp): Promise<boolean> => {
  const [[standby] = []] = await askServer(server, 'select pg_is_in_recovery()')
  return standby === 'f'
}

type Question = { readonly client: Customer | 'payouts'; readonly path: string }

const LIST = '/v2/transfer/fiat-accounts'

/** Gets, first pages, and reads of records and lists as of instants until the named second. */
function questionsUntil(from: number, to: number): readonly Question[] {
  const instants = Array.from({ length: 64 }, (_, at) =>
    new Date(from + ((to - from) * (at + 1)) / 64).toISOString(),
  )
  const places = Array.from({ length: placeCount }, (_, place) => place)
  const questions = customers.flatMap((client): Question[] => {
    const ids = places.map((place) => idOf(client, place))
    const limits = Array.from({ length: placeCount }, (_, at) => at + 1)
    return [
      ...ids.map((id) => ({ client, path: `${LIST}/${id}` })),
      ...['ASC', 'DESC'].flatMap((order) =>
        limits.map((limit) => ({ client, path: `${LIST}?limit=${limit}&order=${order}` })),
      ),
      ...instants.flatMap((instant): Question[] => [
        ...ids.map((id) => asOf(`/ingest/v1/fiat-accounts/${id}`, instant)),
        ...[3, 5, 7, 9, 11, 20, 40].flatMap((limit) =>
          ['customer', 'full'].map((view) =>
            asOf(
              `/ingest/v1/customers/${client}/fiat-accounts`,
              instant,
              `&limit=${limit}&view=${view}`,
            ),
          ),
        ),
      ]),
    ]
  })
  assert.ok(questions.length >= ANSWERS, `${questions.length} questions`)
  return questions
}

const asOf = (path: string, instant: string, rest = ''): Question => ({
  client: 'payouts',
  path: `${path}?as_of=${instant}${rest}`,
})

/** Status and body of each answer, without its cursor: each page seals another. */
async function answersTo(
  { urls }: Deployment,
  questions: readonly Question[],
): Promise<readonly string[]> {
  const [url = ''] = urls
  const tokens = new Map<string, string>()
  for (const client of [...customers, 'payouts']) tokens.set(client, await tokenOf(url, client))
  const answers: string[] = []
  let next = 0
  const client = async () => {
    for (let at = next++; at < questions.length; at = next++) {
      const { client: who = '', path = '' } = questions[at] ?? {}
      answers[at] = comparable(await send(url, path, { token: tokens.get(who) }))
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return answers
}

function comparable(answer: Answer): string {
  assert.ok(answer.kind === 'answered', JSON.stringify(answer))
  assert.ok([200, 404].includes(answer.status), answer.text)
  const text = answer.text
    .replace(/"next_page_cursor":"[^"]*"/, '"next_page_cursor":""')
    .replace(/"request_id":"[^"]*"/, '"request_id":""')
  return `${answer.status} ${text}`
}

function idOfAnswer(answer: Answer): string {
  assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer))
  return JSON.parse(answer.text).id
}

async function operate({ env }: Deployment, words: readonly string[]): Promise<void> {
  const { code, errors } = await runProgram(words, { env })
  assert.equal(code, 0, errors)
}

/** The words with another value of an option. */
const withValue = (words: readonly string[], name: string, value: string): readonly string[] =>
  words.map((word, at) => (words[at - 1] === name ? value : word))

/** The command of docs/running.md for a fee that was consumed after the named second. */
const consumeWords = (id: string, consumedAt: string): readonly string[] => {
  const values: Readonly<Record<string, string>> = {
    '--customer': 'ash',
    '--asset': withdrawal.asset,
    '--network': withdrawal.crypto_network,
    '--address': withdrawal.destination_address,
    '--amount': withdrawal.amount,
    '--withdrawal': 'payout-7',
    '--consumed-at': consumedAt,
  }
  return Object.entries(values)
    .reduce(
      (words, [name, value]) => withValue(words, name, value),
      documentedWords('fee consume ID'),
    )
    .map((word) => (word === 'ID' ? id : word))
}
