import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { isLong } from '../support/long.ts'
import { runProgram } from '../support/program.ts'
import { anIssuerQuote } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { quote } from './support/acts.ts'
import { type Answer, send, statusOf } from './support/client.ts'
import { openHistory } from './support/history.ts'
import { type Customer, customers, recordsOf } from './support/ledger.ts'
import { mountSmallDisk } from './support/small-disk.ts'
import { type Fault, openFaults } from './support/soak-faults.ts'
import { openSoakServer, usageOf } from './support/soak-server.ts'
import { startWrites } from './support/soak-writes.ts'
import { startTraffic } from './support/traffic.ts'

/**
 * A server with two workers meets a random fault every 20 seconds for ten minutes, while clients
 * read, quote, consume, revoke and import. It runs in `npm run test:long`, as root, because it
 * mounts a small file system.
 */

const MINUTES = Number(process.env.BURSAR_SOAK_MINUTES ?? 10)
const FAULT_EVERY_MS = 20_000

/** After a fault the server must answer again within this time. */
const RECOVERY_MS_MAX = 15_000

/** Revocations and clock jumps are known to every process after this time. */
const SETTLED_MS = 12_000

if (isLong) {
  test('a soak with random faults loses no write, sends no wrong body and does not grow', async (t) => {
    const disk = mountSmallDisk()
    assert.ok(disk, 'The soak mounts a file system, which needs root.')
    after(() => disk.remove())
    const soak = await openSoak(disk)
    const { server, history, tokens } = soak
    const traffic = startTraffic({
      urls: [server.url],
      tokens,
      history,
      running: new Set(),
      restMs: 10,
      isExplained: (answer) => statusOf(answer) === 401 && !soak.isClockRight(),
    })
    const imports = startImports(soak)
    const writes = startWrites(soak.writeDeps)
    const faults = openFaults({ ...soak, disk, importMany: () => importMany(soak.env) })
    await passing(10_000)
    const usages = followUsage(server.workerPids)
    const recoveries = new Map<string, number[]>()
    const endsAt = performance.now() + MINUTES * 60_000
    for (const fault of inRandomOrder(faults.faults, endsAt)) {
      const nextAt = performance.now() + FAULT_EVERY_MS
      const ms = await soak.suffer(fault)
      recoveries.set(fault.name, [...(recoveries.get(fault.name) ?? []), ms])
      await passing(Math.max(0, nextAt - performance.now()))
    }
    await untilHolds('silent connections are closed', () => faults.silentLeft() === 0, 60_000)
    await imports.stop()
    await writes.stop()
    const { answered, refused, cut, walks } = await traffic.stop()
    await passing(SETTLED_MS)
    await writes.verify()
    await soak.assertSound()
    const usage = usages.stop()
    t.diagnostic(`${answered} answers, ${walks} walks, ${refused} refused, ${cut} cut`)
    t.diagnostic(`${JSON.stringify(writes.counts())}, ${imports.count()} imports`)
    for (const [name, times] of recoveries) t.diagnostic(`${name}: ${recoveryOf(times)}`)
    for (const line of usage) t.diagnostic(line)
    faults.close()
    assert.equal(await server.stop(), 0)
  })
}

type Soak = Awaited<ReturnType<typeof openSoak>>

async function openSoak(disk: NonNullable<ReturnType<typeof mountSmallDisk>>) {
  const recordsFile = join(disk.folder, 'bursar.db')
  const env = {
    DATABASE_URL: `sqlite:${recordsFile}`,
    PORT: String(await freePort()),
    LOG_LEVEL: 'info',
    BURSAR_ACCEPT_SAMPLE_FEES: 'true',
    BURSAR_FEE_QUOTES_OPEN_MAX: '100000',
    BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '0',
  }
  const history = openHistory(0)
  const forms = new Map<string, string>()
  for (const customer of customers) forms.set(customer, await addClient(env, customer))
  forms.set('operator', await addClient(env, undefined))
  const importGeneration = generationImporter(env, history)
  assert.ok(await importGeneration(1), 'the first import')
  const server = await openSoakServer(env, disk.folder)
  const fetchToken = async (client: string) => {
    const body = forms.get(client) ?? ''
    return tokenOf(await send(server.url, '/oauth2/token', { method: 'POST', body }))
  }
  const tokens = new Map<Customer, string>()
  let operatorToken = ''
  const renewTokens = async () => {
    for (const customer of customers) tokens.set(customer, (await fetchToken(customer)) ?? '')
    operatorToken = (await fetchToken('operator')) ?? ''
  }
  await renewTokens()
  let isClockRight = true
  const works = async () => {
    const read = await send(server.url, '/v2/transfer/fiat-accounts?limit=1', {
      token: tokens.get('ash'),
    })
    const made = await quote(server.url, tokens.get('ash'))
    const isReady = statusOf(await send(server.url, '/readyz')) === 200
    const isNew = (await fetchToken('ash')) !== undefined
    return isReady && isNew && statusOf(read) === 200 && statusOf(made) < 300 && statusOf(made) > 0
  }
  return {
    ...{ env, server, history, tokens, recordsFile, importGeneration },
    credentialsFile: join(disk.folder, 'bursar.credentials.db'),
    isClockRight: () => isClockRight,
    writeDeps: {
      url: server.url,
      credentialsFile: join(disk.folder, 'bursar.credentials.db'),
      token: (client: 'ash' | 'operator') =>
        client === 'operator' ? operatorToken : (tokens.get(client) ?? ''),
      newToken: () => fetchToken('ash'),
      form: forms.get('ash') ?? '',
      isClockRight: () => isClockRight,
    },
    /** Runs a fault. Returns the milliseconds from its end until everything works again. */
    suffer: async (fault: Fault) => {
      if (fault.changesClock) isClockRight = false
      await fault.run()
      const ms = await untilHolds(`all works after: ${fault.name}`, works, RECOVERY_MS_MAX)
      if (fault.changesClock) {
        // Requests that were sent under the wrong clock may still be answered.
        await passing(1000)
        await renewTokens()
        isClockRight = true
      }
      return ms
    },
    assertSound: async () => {
      const { code, output, errors } = await runProgram(['migrate', '--check', '--json'], { env })
      assert.equal(code, 0, `${output}${errors}`)
    },
  }
}

const tokenOf = (answer: Answer): string | undefined =>
  answer.kind === 'answered' && answer.status === 200
    ? JSON.parse(answer.text).access_token
    : undefined

/** Returns the body of a token request. Without a customer, the client is the operator's. */
async function addClient(env: Readonly<Record<string, string>>, customer: string | undefined) {
  const whose =
    customer === undefined
      ? ['--operator', '--scope', 'ingest:consume_fee']
      : ['--customer', customer, '--scope', SCOPES]
  const words = ['client', 'create', ...whose, '--name', 'soak', '--json']
  const { code, output, errors } = await runProgram(words, { env })
  assert.equal(code, 0, errors)
  const made = JSON.parse(output)
  return `grant_type=client_credentials&client_id=${made.client_id}&client_secret=${made.client_secret}`
}

const SCOPES = 'transfer:read_fiat_account transfer:create_crypto_withdrawal_fee'

/** Imports a generation. An import that fails may be tried again with the same generation. */
const generationImporter =
  (env: Readonly<Record<string, string>>, history: ReturnType<typeof openHistory>) =>
  async (generation: number): Promise<boolean> => {
    for (const customer of customers) history.begin(customer, generation)
    const records = customers.flatMap((customer) => recordsOf(customer, generation))
    const stdin = records.map((record) => JSON.stringify(record)).join('\n')
    const { code } = await runProgram(['import', 'fiat-accounts', '-', '--json'], { env, stdin })
    if (code !== 0) return false
    for (const customer of customers) history.acknowledge(customer, generation)
    return true
  }

function startImports({ importGeneration }: Soak) {
  let stopped = false
  let count = 1
  const run = async () => {
    while (!stopped) {
      if (await importGeneration(count + 1)) count += 1
      await passing(3000)
    }
  }
  const running = run()
  return {
    count: () => count,
    stop: async () => {
      stopped = true
      await running
    },
  }
}

/** The records change each time, so that every row is written. */
async function importMany(env: Readonly<Record<string, string>>): Promise<void> {
  const ref = String(Math.random())
  const lines = Array.from({ length: 20_000 }, (_, at) => {
    const id = `5a51e000-0000-4000-8000-${String(at).padStart(12, '0')}`
    return JSON.stringify(anIssuerQuote({ id, customer_id: 'dogwood', ref_id: `${ref}-${at}` }))
  })
  const stdin = lines.join('\n')
  const words = ['import', 'issuer-quote-executions', '-', '--json']
  const { code, errors } = await runProgram(words, { env, stdin })
  assert.equal(code, 0, errors)
}

/** Every fault once in random order, then again, until the time is over. */
function* inRandomOrder(faults: readonly Fault[], endsAt: number): Iterable<Fault> {
  for (;;) {
    const left = [...faults]
    while (left.length > 0) {
      if (performance.now() > endsAt) return
      yield* left.splice(Math.floor(Math.random() * left.length), 1)
    }
  }
}

function recoveryOf(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  return `${times.length} times, recovered in ${median.toFixed(0)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`
}

/** Follows each process. Asserts at the end that those which lived for long did not grow. */
function followUsage(pids: () => readonly number[]) {
  type Sample = NonNullable<ReturnType<typeof usageOf>>
  const samples = new Map<number, Sample[]>()
  const sample = () => {
    for (const pid of pids()) {
      const usage = usageOf(pid)
      if (usage !== undefined) samples.set(pid, [...(samples.get(pid) ?? []), usage])
    }
  }
  const timer = setInterval(sample, 10_000)
  return {
    stop: (): string[] => {
      clearInterval(timer)
      sample()
      return [...samples].flatMap(([pid, all]) => {
        // The first samples show a process that is still warming up.
        const [, , early] = all
        const last = all.at(-1)
        if (early === undefined || last === undefined || all.length < 9) return []
        const line = `process ${pid}, ${all.length * 10} s: ${early.descriptors} -> ${last.descriptors} descriptors, ${early.residentMiB.toFixed(0)} -> ${last.residentMiB.toFixed(0)} MiB`
        assert.ok(last.descriptors <= early.descriptors + 20, line)
        assert.ok(last.residentMiB <= 1.5 * early.residentMiB + 64, line)
        return [line]
      })
    },
  }
}
