import type { Keyring } from '@bursar/base'
import type { Client, CredentialStore } from '@bursar/records'
import { markSealer, sealed } from './client-seal.ts'
import { type ClientDeps, nextSecond } from './clients.ts'

type EraseDeps = Pick<ClientDeps, 'clock'> & {
  readonly store: Pick<CredentialStore, 'clientsOf' | 'eraseClient'>
  readonly keyring: Keyring
}

export type ErasedClients = {
  readonly ids: readonly string[]
  /** Those that had a name or a key until now. */
  readonly erased: number
  /** When the last of them was disabled. */
  readonly disabledAt: bigint | undefined
}

/**
 * Disables every client of a customer, and those that are bound to it. Of each only its id, its
 * customer and its times are left. A disabled row is what running servers learn of; they would not
 * notice a row that is gone, and a client must never come back with an id that was one's before.
 */
export async function eraseClients(
  { store, keyring, clock }: EraseDeps,
  customerId: string,
): Promise<ErasedClients> {
  const clients = await store.clientsOf(customerId)
  const now = clock()
  const named = clients.filter(({ name }) => name !== '')
  for (const { id } of named) {
    const erased = (client: Client) =>
      sealed(
        {
          ...client,
          name: '',
          scopes: [],
          method: { kind: 'secret' },
          disabledAt: client.disabledAt ?? now,
          notBefore: nextSecond(now),
        },
        keyring,
      )
    await store.eraseClient(id, erased, markSealer(keyring))
  }
  const before = clients.flatMap(({ disabledAt }) => disabledAt ?? [])
  const newest = named.length > 0 ? [...before, now] : before
  return {
    ids: clients.map(({ id }) => id),
    erased: named.length,
    disabledAt: newest.toSorted((one, other) => Number(one - other)).at(-1),
  }
}
