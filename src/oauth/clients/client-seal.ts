import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Client } from '../../store/credentials.ts'
import type { Keyring } from '../../vault/keyring.ts'

export type UnsealedClient = Omit<Client, 'seal'>

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

/** Whether the program has stored the client as it is. Takes as long for one that is unknown. */
export function isSealed(client: Client | undefined, keyring: Keyring): boolean {
  const [version, keyId = '', hex = ''] = (client ?? nobody).seal.split(':')
  const known = keyring.byId(keyId)
  const { key } = known ?? keyring.current('client-row')
  const expected = Buffer.from(hex, 'hex')
  const actual = digestOf(client ?? nobody, key)
  const isEqual = expected.length === actual.length && timingSafeEqual(expected, actual)
  return isEqual && version === 'v1' && known?.purpose === 'client-row' && client !== undefined
}

/** For the log: somebody has written to the table of clients past the program. */
export const notSealed =
  'a client was not stored by this program, or was changed by another one; it is refused: disable it, and find out who can write to the database'

/** A list of JSON texts is read in one way only, whatever its members hold. */
function digestOf(client: UnsealedClient, key: Buffer): Buffer {
  const { id, customerId, boundTo, name, scopes, method, createdAt, disabledAt } = client
  const at = [createdAt, disabledAt].map((instant) => instant?.toString() ?? null)
  const content = [id, customerId, boundTo, name, scopes, Object.entries(method).toSorted(), at]
  return createHmac('sha256', key).update(JSON.stringify(content)).digest()
}

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
