import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Keyring, type Random, Secret } from '@bursar/base'
import type { ClientSecret, ClientWithSecrets } from '@bursar/records'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random bytes as [0-9A-Za-z], which form-encoding (RFC 6749 section 2.3.1) does not change. */
export function randomText(bytes: number, random: Random): string {
  let rest = BigInt(`0x${random(bytes).toString('hex')}`)
  const length = Math.ceil((bytes * 8) / Math.log2(alphabet.length))
  let text = ''
  for (let index = 0; index < length; index += 1) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}

/** A new secret: 256 random bits with a prefix that secret scanners recognise. */
export const makeSecret = (random: Random): Secret =>
  new Secret(`bursar_secret_${randomText(32, random)}`)

/**
 * `hmac256:<key id>:<hex>`. A fast hash suffices: 256 random bits cannot be guessed. The client is
 * part of it, so that a hash that somebody moves to the row of another client is of no use.
 */
export function hashSecret(clientId: string, secret: Secret, keyring: Keyring): string {
  const { id, key } = keyring.current('client-secret')
  return `hmac256:${id}:${hmac(key, clientId, secret).toString('hex')}`
}

const hmac = (key: Buffer, clientId: string, secret: Secret): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([clientId, secret.reveal()]))
    .digest()

const SECRETS_COMPARED = 2
const dummy = { hash: `hmac256:none:${'0'.repeat(64)}` }

/** Whether a hash was made with a key that has been renewed since. */
export const isOldHash = (hash: string, keyring: Keyring): boolean =>
  hash.split(':')[1] !== keyring.current('client-secret').id

/**
 * Returns the secret that was presented, unless it has expired. Always compares two hashes: the
 * time does not tell whether the client or a secret exists.
 */
export function findSecret(
  client: ClientWithSecrets | undefined,
  presented: Secret,
  keyring: Keyring,
  now: bigint,
): ClientSecret | undefined {
  const hashOf = openHash(client?.id ?? '', presented, keyring)
  let found: ClientSecret | undefined
  for (let index = 0; index < SECRETS_COMPARED; index += 1) {
    const secret = client?.secrets[index]
    const matches = isHashOf((secret ?? dummy).hash, keyring, hashOf)
    const isLive = secret?.expiresAt === undefined || now < secret.expiresAt
    if (matches && isLive && secret !== undefined) found = secret
  }
  return found
}

/**
 * Hashes the secret once where there is one key, and else for each comparison, also with the same
 * key: the time depends on the keys of the store, and not on those of the client.
 */
function openHash(clientId: string, presented: Secret, keyring: Keyring): (key: Buffer) => Buffer {
  const live = keyring.all('client-secret').filter(({ revokedAt }) => revokedAt === undefined)
  const hashWith = (key: Buffer) => hmac(key, clientId, presented)
  if (live.length !== 1) return hashWith
  const hash = hashWith(keyring.current('client-secret').key)
  return () => hash
}

function isHashOf(stored: string, keyring: Keyring, hashOf: (key: Buffer) => Buffer): boolean {
  const [tag, keyId = '', hex = ''] = stored.split(':')
  const known = keyring.byId(keyId)
  const { key } = known ?? keyring.current('client-secret')
  const expected = Buffer.from(hex, 'hex')
  const actual = hashOf(key)
  const isEqual = expected.length === actual.length && timingSafeEqual(expected, actual)
  return isEqual && tag === 'hmac256' && known !== undefined
}
