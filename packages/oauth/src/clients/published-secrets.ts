import { type Clock, type Config, ConfigError, commandHint, counted } from '@bursar/base'
import type { ClientWithSecrets, CredentialStore } from '@bursar/records'

/** How the ids of secrets begin that a sandbox made: everyone can read or compute them. */
export const publishedPrefix = 'sandbox_secret_'

/** The clients that someone can use with a published secret. A new secret replaces it in time. */
export async function publishedClients(
  { listClients }: Pick<CredentialStore, 'listClients'>,
  now: bigint,
): Promise<readonly ClientWithSecrets[]> {
  const clients = await listClients()
  return clients.filter(
    ({ disabledAt, secrets }) =>
      disabledAt === undefined &&
      secrets.some(
        ({ id, expiresAt }) =>
          id.startsWith(publishedPrefix) && (expiresAt === undefined || expiresAt > now),
      ),
  )
}

/** Throws a ConfigError where a server would accept the secrets of a sandbox. */
export async function requireNoPublishedSecret(
  store: CredentialStore,
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  clock: Clock,
): Promise<void> {
  const clients = await publishedClients(store, clock())
  if (clients.length === 0) return
  const shown = clients.slice(0, SHOWN_MAX).map(({ id }) => id)
  const more = clients.length - shown.length
  const named = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')
  // The URL of a database may hold a password.
  const isFile = databaseUrl.startsWith('sqlite:')
  const place = isFile ? ` --database ${quoted(databaseUrl)}` : ''
  const role = isFile ? '' : ', with OPERATOR_DATABASE_URL set'
  throw new ConfigError(
    `The store has ${counted(clients.length, 'client')} of a sandbox, whose secrets are public: ${named}. Disable them with ${commandHint(`client disable --sandbox${place}`)}${role}, or serve another store.`,
  )
}

const SHOWN_MAX = 5

/** One word of a shell. */
const quoted = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
