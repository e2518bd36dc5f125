import { type Config, openLog, systemRandom, systemTime } from '@bursar/base'
import { type Entry, importEntries, recordRules } from '@bursar/intake'
import { createClient } from '@bursar/oauth'
import { createStore, openOperatorStores, type Stores } from '@bursar/server/stores'
import { fiatAccount } from '../packages/contract/src/resources/fiat-account.ts'
import { aFiatAccount } from '../test/support/records.ts'

export const CUSTOMERS = 50
/** The customer with nine tenths of the records. */
export const BIG = 'customer-big'

/** The owner of the record: every tenth belongs to one of 50 equal customers. */
export const customerOf = (at: number): string =>
  at % 10 === 0 ? `customer-${(at / 10) % CUSTOMERS}` : BIG

const FIRST_MS = 1_700_000_000_000

/** When the record was created, in microseconds. */
export const microsOf = (at: number): bigint => BigInt(FIRST_MS + at * 1000) * 1000n

/** One of the interleaved accounts, about 700 bytes. */
export function account(at: number, customerId = customerOf(at)) {
  return aFiatAccount({
    id: idOf(at),
    customer_id: customerId,
    ref_id: `ref-${at}`,
    created_at: new Date(FIRST_MS + at * 1000).toISOString(),
    metadata: { label: 'x'.repeat(60), second: 'y'.repeat(60) },
  })
}

/** Ids spread over the whole range, like random ones. */
export function idOf(at: number): string {
  const spread = ((at * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
  return `${spread}-0000-4000-8000-${String(at).padStart(12, '0')}`
}

export async function withStores<T>(
  config: Config,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const sources = { config, clock: systemTime.now, log: openLog('silent') }
  await createStore(sources)
  const stores = await openOperatorStores(sources)
  try {
    return await work(stores)
  } finally {
    await stores.close()
  }
}

export async function fill(config: Config, entries: AsyncIterable<Entry>): Promise<number> {
  return await withStores(config, async (stores) => {
    const report = await importEntries(stores.records(), fiatAccount.resource, entries, {
      dryRun: false,
      allowOlder: false,
      rules: recordRules(config),
    })
    return report.added
  })
}

export async function* accounts(count: number): AsyncIterable<Entry> {
  for (let at = 0; at < count; at += 1) yield { line: at + 1, value: account(at) }
}

type ClientOptions = {
  /** Null for a client of the operator. */
  readonly customerId?: string | null
  readonly scopes?: readonly string[]
}

/** Creates a client of the first customer, with the default scopes unless given. */
export async function makeClient(
  config: Config,
  { customerId = 'customer-0', scopes }: ClientOptions = {},
) {
  const made = await withStores(config, async (stores) => {
    const store = stores.credentials()
    const keyring = await stores.keyring(store)
    return await createClient(
      { store, keyring, clock: systemTime.now, random: systemRandom },
      { customerId, name: 'bench', scopes, method: { kind: 'secret' } },
    )
  })
  if (!('client' in made) || made.secret === undefined) throw new Error('no client')
  return {
    customerId: customerId ?? '',
    clientId: made.client.id,
    clientSecret: made.secret.reveal(),
  }
}
