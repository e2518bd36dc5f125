import {
  type Check,
  type Clock,
  type Config,
  commandHint,
  counted,
  DAY_MICROS,
  type Finding,
  type Keyring,
  limitsOf,
  masterKeyOf,
  olderKeys,
  printable,
  refusalOf,
} from '@bursar/base'
import { isSealed, publishedClients } from '@bursar/oauth'
import type { CredentialStore } from '@bursar/records'

const limits = limitsOf({
  /** How old the signing key of tokens may be. */
  signingKeyAgeDaysMax: 400,
})

export type KeyDeps = {
  readonly config: Config
  readonly clock: Clock
  /** Opens the store, passes its parts to the work, and closes it again. */
  readonly using: <T>(work: (parts: StoreParts) => Promise<T>) => Promise<T>
}

type StoreParts = {
  readonly credentials: CredentialStore
  /** Opens the keys of a store, for one that has keys. */
  readonly openKeyring: () => Promise<Keyring>
}

/** Checks keys and clients, and whether a recovery has ended. Stores nothing. */
export const keyChecks = (deps: KeyDeps): readonly Check[] => [
  { name: 'keys', find: () => keyFindings(deps) },
  {
    name: 'clients',
    find: () =>
      deps.using(async (parts) => [
        ...(await publishedFindings(parts.credentials, deps.clock())),
        ...(await foreignFindings(parts)),
        ...(await putBackFindings(parts.credentials, deps.clock())),
      ]),
  },
  { name: 'recovery', find: () => deps.using(({ credentials }) => recoveryFindings(credentials)) },
]

const keyFindings = ({ config, clock, using }: KeyDeps) =>
  using(async ({ credentials, openKeyring }) => {
    const stored = await credentials.readPurposeKeys()
    // The first server makes the keys.
    if (stored.length === 0) return []
    const findings: Finding[] = [...masterFindings(config, new Set(stored.map(masterOf)))]
    const refused = await refusalOf(async () => {
      const keyring = await openKeyring()
      findings.push(...ageFindings(keyring, clock()), ...olderFindings(keyring, clock()))
    })
    return [...refused, ...findings]
  })

const masterOf = ({ masterId }: { readonly masterId: string }): string => masterId

function masterFindings(
  { previousMasterKey }: Config,
  masters: ReadonlySet<string>,
): readonly Finding[] {
  if (previousMasterKey === undefined) return []
  if (masters.has(masterKeyOf(previousMasterKey).id)) {
    return [
      {
        what: 'keys of the store are still wrapped with BURSAR_MASTER_KEY_PREVIOUS',
        why: 'they are lost with that key',
        fix: `run ${commandHint('keys rotate-master')}`,
      },
    ]
  }
  return [
    {
      what: 'BURSAR_MASTER_KEY_PREVIOUS is set, and no key of the store needs it',
      why: 'a retired key that stays in use can still be stolen',
      fix: 'take it out of the configuration, and restart each server',
    },
  ]
}

function ageFindings(keyring: Keyring, now: bigint): readonly Finding[] {
  const days = Number((now - keyring.current('token-signing').activeFrom) / DAY_MICROS)
  if (days <= limits.signingKeyAgeDaysMax) return []
  return [
    {
      what: `tokens have been signed with one key for ${days} days`,
      why: 'a copy of it that someone has made signs tokens until it is replaced',
      fix: `run ${commandHint('keys rotate')}`,
    },
  ]
}

/** A walk that was cut off leaves them. */
function olderFindings(keyring: Keyring, now: bigint): readonly Finding[] {
  const older = olderKeys(keyring, now)
  if (older.length === 0) return []
  return [
    {
      what: `${counted(older.length, 'key')} of the store ${older.length === 1 ? 'was' : 'were'} renewed, and what is under the old one is still accepted`,
      why: 'somebody who has an old key opens and makes such records, marks and numbers',
      fix: `run ${commandHint('keys reseal')} to its end`,
    },
  ]
}

async function publishedFindings(
  credentials: CredentialStore,
  now: bigint,
): Promise<readonly Finding[]> {
  const published = await publishedClients(credentials, now)
  if (published.length === 0) return []
  return [
    {
      what: `the store has ${counted(published.length, 'client')} of a sandbox`,
      why: 'everyone knows their secrets, so serve does not start',
      fix: `run ${commandHint('client disable --sandbox')}`,
    },
  ]
}

async function foreignFindings({
  credentials,
  openKeyring,
}: StoreParts): Promise<readonly Finding[]> {
  const clients = await credentials.listClients()
  if (clients.length === 0) return []
  const keyring = await openKeyring()
  const live = clients.filter(({ disabledAt }) => disabledAt === undefined)
  return live
    .filter((client) => !isSealed(client, keyring))
    .slice(0, FOREIGN_SHOWN_MAX)
    .map(({ id }) => ({
      what: `the client ${printable(id)} was not stored by this program, or was changed by another one, or an older state of it was put back`,
      why: 'it is refused, but somebody can write to the table of clients',
      fix: `run ${commandHint('client disable')} with its id, and find out who has the password of the database`,
    }))
}

const FOREIGN_SHOWN_MAX = 10

async function putBackFindings(
  credentials: CredentialStore,
  now: bigint,
): Promise<readonly Finding[]> {
  const { keys, tokens } = await credentials.findPutBack(now)
  const found = [
    ...keys.map((id) => `the key ${printable(id)} was revoked, and its row says so no more`),
    ...(tokens === 0
      ? []
      : [
          `${counted(tokens, 'token')} ${tokens === 1 ? 'was' : 'were'} revoked, and no row says so any more`,
        ]),
  ]
  return found.map((what) => ({
    what,
    why: 'the audit log knows the end, so it stands, but somebody can write to these tables',
    fix: 'find out who has the password of the database, and replace it',
  }))
}

async function recoveryFindings(credentials: CredentialStore): Promise<readonly Finding[]> {
  const recovery = await credentials.readRecovery()
  if (recovery === undefined) return []
  const { clientsConfirmedAt, reconciledAt } = recovery
  return [
    ...(clientsConfirmedAt === undefined
      ? [
          {
            what: 'the store was restored, and its clients are not confirmed',
            why: 'no client gets a token',
            fix: `disable the clients that were disabled since the backup, then run ${commandHint('reconcile --clients-confirmed')}`,
          },
        ]
      : []),
    ...(reconciledAt === undefined
      ? [
          {
            what: 'the store was restored, and its guaranteed fees are not reconciled',
            why: 'no withdrawal can consume a fee from before the restore',
            fix: `consume the fees of withdrawals since the backup, then run ${commandHint('reconcile --reconciled')} (docs/running.md)`,
          },
        ]
      : []),
  ]
}
