import type { Keyring } from '@bursar/base'
import type { CredentialStore } from '@bursar/records'
import { isMarkedWith, markSealer, sealed } from './client-seal.ts'

type RenewDeps = {
  readonly store: Pick<CredentialStore, 'listClients' | 'changeClient'>
  readonly keyring: Keyring
}

/** Clients by what has become of them. */
export type RenewedMarks = {
  readonly renewed: number
  /** The ids of clients that the program has not stored as they are, and which stay refused. */
  readonly refused: readonly string[]
}

/**
 * Marks clients with the current key. A client without a valid mark gets none: a renewal makes
 * nobody a client whom the program has not stored.
 */
export async function renewMarks({ store, keyring }: RenewDeps): Promise<RenewedMarks> {
  const { id: current } = keyring.current('client-row')
  const isCurrent = (seal: string | undefined) => seal?.split(':')[1] === current
  const refused: string[] = []
  let renewed = 0
  for (const { id, seal, mark } of await store.listClients()) {
    if (isCurrent(seal) && isCurrent(mark?.seal)) continue
    const changed = await store.changeClient(
      id,
      (client, secrets) =>
        isMarkedWith(client, secrets, keyring) ? sealed(client, keyring) : undefined,
      markSealer(keyring),
    )
    if (changed === undefined) refused.push(id)
    else renewed += 1
  }
  return { renewed, refused }
}
