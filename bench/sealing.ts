import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cores } from '../test/support/cores.ts'
import { fetchToken, temporaryFolder } from '../test/support/harness.ts'
import { aDepositAddress } from '../test/support/records.ts'
import { startProcess } from '../test/support/server-process.ts'
import { serverEnv } from './embedded.ts'
import { report } from './report.ts'
import { account, BIG, idOf } from './world.ts'
import { type LoadRequest, runWrk } from './wrk.ts'

/**
 * What sealing costs on the embedded store: reads and imports of this program beside the same with
 * BURSAR_SEAL=false, or beside the built program of another checkout:
 *
 *     node bench/sealing.ts [--before FOLDER] [--records 20000] [--seconds 3] [--rounds 5]
 */
const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    records: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
  },
})
const RECORDS = Number(values.records)
const SECONDS = Number(values.seconds)
const ROUNDS = Number(values.rounds)

const folder = temporaryFolder()
const files = { accounts: join(folder, 'accounts.ndjson'), addresses: join(folder, 'a.ndjson') }
const lines = (count: number, recordOf: (at: number) => unknown) =>
  Array.from({ length: count }, (_, at) => `${JSON.stringify(recordOf(at))}\n`).join('')
writeFileSync(
  files.accounts,
  lines(RECORDS, (at) => account(at)),
)
writeFileSync(
  files.addresses,
  lines(RECORDS, (at) =>
    aDepositAddress({
      id: idOf(at),
      customer_id: BIG,
      ref_id: `ref-${at}`,
      address: `0xf0${String(at).padStart(38, '0')}`,
    }),
  ),
)

type Side = Awaited<ReturnType<typeof openSide>>

/** A program with a store of its own, and a server on it. */
async function openSide(name: string, program: string, env: Readonly<Record<string, string>>) {
  const main = resolve(program, 'dist/main.js')
  const run = (store: string, words: readonly string[]) => {
    const given = { ...process.env, ...env, DATABASE_URL: `sqlite:${join(folder, store)}` }
    const pinned = ['-c', cores.server, process.execPath, main, ...words]
    return execFileSync('taskset', pinned, { env: given, encoding: 'utf8', stdio: 'pipe' })
  }
  const store = `${name}.db`
  run(store, ['import', 'fiat-accounts', files.accounts])
  const words = ['client', 'create', '--customer', BIG, '--name', 'bench', '--json']
  const made = JSON.parse(run(store, words))
  const database = { DATABASE_URL: `sqlite:${join(folder, store)}` }
  const service = await startProcess([main, 'serve'], {
    env: { ...env, ...database, ...serverEnv },
  })
  const token = await fetchToken(service.url, {
    customerId: BIG,
    clientId: made.client_id,
    clientSecret: made.client_secret,
  })
  let imports = 0
  return {
    service,
    rate: async (requests: readonly LoadRequest[]) => {
      const load = { url: service.url, tokens: [token], requests, seconds: SECONDS }
      return (await runWrk(load)).rate
    },
    /** Records a second of a first import. */
    importRate: (kind: string, file: string) => {
      imports += 1
      const begunAt = performance.now()
      run(`${name}-${imports}.db`, ['import', kind, file])
      return (1000 * RECORDS) / (performance.now() - begunAt)
    },
  }
}

const here = resolve(import.meta.dirname, '..')
const ours = await openSide('sealed', here, {})
const theirs =
  values.before === undefined
    ? await openSide('clear', here, { BURSAR_SEAL: 'false' })
    : await openSide('before', values.before, {})

const reference = values.before === undefined ? 'in clear' : 'before'
const compare = (
  name: string,
  goal: number,
  unit: string,
  measure: (side: Side) => Promise<number> | number,
) =>
  report(
    {
      name,
      reference,
      goal,
      unit,
      measure: async (round) => {
        // Each is first in every second round.
        const first = round % 2 === 0 ? ours : theirs
        const one = await measure(first)
        const other = await measure(first === ours ? theirs : ours)
        return first === ours ? { ours: one, theirs: other } : { ours: other, theirs: one }
      },
    },
    ROUNDS,
  )

const own = Array.from({ length: RECORDS }, (_, at) => at).filter((at) => at % 10 !== 0)
const some = own.filter((_, at) => at % Math.ceil(own.length / 5000) === 0)
const accountsPath = '/v2/transfer/fiat-accounts'
const getsOf = (ids: readonly number[]) =>
  ids.map((at) => ({ path: `${accountsPath}/${idOf(at)}` }))
/** Twice as many as a process keeps opened, one after the other. */
const others = getsOf(own)
const gets = getsOf(own.slice(0, 2000))
const cold = some.map((at) => ({
  path: `${accountsPath}?created_at.lt=${encodeURIComponent(account(at).created_at as string)}`,
}))
try {
  // Rates rise for some seconds, until V8 has compiled what is used most.
  for (const side of [ours, theirs]) {
    for (let times = 0; times < 3; times += 1) await side.rate([...gets, ...cold])
  }
  await compare('get one of 2,000 accounts', 0.8, '/s', (side) => side.rate(gets))
  await compare('get an account, another each time', 0.8, '/s', (side) => side.rate(others))
  await compare('list of 100, another each time', 0.97, '/s', (side) => side.rate(cold))
  await compare('the same list of 100', 0.97, '/s', (side) => side.rate([{ path: accountsPath }]))
  await compare('import accounts', 0.75, '/s', (side) =>
    side.importRate('fiat-accounts', files.accounts),
  )
  await compare('import addresses', 0.97, '/s', (side) =>
    side.importRate('deposit-addresses', files.addresses),
  )
} finally {
  await ours.service.stop()
  await theirs.service.stop()
}
