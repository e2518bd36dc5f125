import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Keyring } from '@bursar/base'
import type { Client, ClientMark, ClientWithSecrets, SealMark } from '@bursar/records'

export type UnsealedClient = Omit<Client, 'seal' | 'mark'>

/**
 * Adds the keyed digest of a client, `v1:<key id>:<hex>`. A stranger who can write to the database,
 * but has none of its keys, can neither add a client nor change its owner, keys or scopes.
 * `notBefore` and `lastUsedAt` are left out: the store changes them for many clients at once, and
 * tokens of a lower `notBefore` have expired within an hour.
 */
export function sealed(client: UnsealedClient, keyring: Keyring): Client {
  const { id, key } = keyring.current('client-row')
  return { ...client, seal: `v1:${id}:${digestOf(client, key).toString('hex')}` }
}

/** Seals what a change leaves of a client, with its number. */
export const markSealer =
  (keyring: Keyring): SealMark =>
  (clientId, mark) => {
    const { id, key } = keyring.current('client-row')
    return `v1:${id}:${digestOfMark(clientId, mark, key).toString('hex')}`
  }

/**
 * Whether the program has stored the client as it is, and last. Takes as long for one that is
 * unknown. Secrets are compared where the client comes with them.
 */
export function isSealed(
  client: Client | ClientWithSecrets | undefined,
  keyring: Keyring,
): boolean {
  const { id, seal, mark = unmarked } = client ?? nobody
  const isOwn = isKeyed(seal, keyring, (key) => digestOf(client ?? nobody, key))
  const isMarked = isKeyed(mark.seal, keyring, (key) => digestOfMark(id, mark, key))
  if (client === undefined || client.mark === undefined || !isOwn || !isMarked) return false
  const isLast = seal === mark.rowSeal && client.notBefore >= mark.notBefore
  return isLast && (!('secrets' in client) || secretsText(client) === mark.secrets)
}

/** The same where the secrets are given as a mark would have them. */
export const isMarkedWith = (client: Client, secrets: string, keyring: Keyring): boolean =>
  isSealed(client, keyring) && client.mark?.secrets === secrets

/** The same text as a mark has. */
const secretsText = ({ secrets }: Pick<ClientWithSecrets, 'secrets'>): string =>
  secrets
    .map(({ id, hash, createdAt, expiresAt }) => [id, hash, createdAt, expiresAt ?? ''].join(' '))
    .join(',')

/** Whether a seal has the digest that its key makes. */
function isKeyed(seal: string, keyring: Keyring, digest: (key: Buffer) => Buffer): boolean {
  const [version, keyId = '', hex = ''] = seal.split(':')
  const known = keyring.byId(keyId)
  const { key } = known ?? keyring.current('client-row')
  const expected = Buffer.from(hex, 'hex')
  const actual = digest(key)
  const isEqual = expected.length === actual.length && timingSafeEqual(expected, actual)
  return isEqual && version === 'v1' && known?.purpose === 'client-row'
}

/** For the log: somebody has written to the table of clients past the program. */
export const notSealed =
  'a client was not stored by this program, or was changed by another one, or an older state of it was put back; it is refused: disable it, and find out who can write to the database'

/** A list of JSON texts is read in one way only, whatever its members hold. */
function digestOf(client: UnsealedClient, key: Buffer): Buffer {
  const { id, customerId, boundTo, name, scopes, method, createdAt, disabledAt } = client
  const at = [createdAt, disabledAt].map((instant) => instant?.toString() ?? null)
  const content = [id, customerId, boundTo, name, scopes, Object.entries(method).toSorted(), at]
  return createHmac('sha256', key).update(JSON.stringify(content)).digest()
}

const digestOfMark = (clientId: string, mark: Omit<ClientMark, 'seal'>, key: Buffer): Buffer => {
  const { number, notBefore, rowSeal, secrets } = mark
  const content = ['mark', clientId, String(number), String(notBefore), rowSeal, secrets]
  return createHmac('sha256', key).update(JSON.stringify(content)).digest()
}

const unmarked: ClientMark = { number: 1n, notBefore: 0n, rowSeal: '', secrets: '', seal: '' }

const nobody: Client = {
  id: '',
  customerId: null,
  boundTo: null,
  name: '',
  scopes: [],
  method: { kind: 'secret' },
  createdAt: 0n,
  notBefore: 0n,
  disabledAt: undefined,
  lastUsedAt: undefined,
  seal: `v1:none:${'0'.repeat(64)}`,
}
