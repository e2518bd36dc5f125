import type { Settings } from '../settings.ts'
import { signInAsClient } from './client-sign-in.ts'
import { finishSignIn } from './issuer-sign-in.ts'
import type { Session } from './session.ts'

/**
 * Goes on after a return from the issuer, or after a reload of a tab that had signed in to the
 * sandbox. Undefined where somebody must sign in.
 */
export async function resumeSignIn({ issuers, clients }: Settings): Promise<Session | undefined> {
  const returned = await finishSignIn(issuers)
  if (returned !== undefined) return returned
  const remembered = sessionStorage.getItem('bursar.sandbox')
  const client = clients.find(({ clientId }) => clientId === remembered)
  if (client === undefined) return undefined
  const { clientId: id, clientSecret: secret, name } = client
  return await signInAsClient({ id, secret, name })
}
