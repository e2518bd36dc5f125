import { limitsOf, networkOf } from '@bursar/base'
import { openWrongSecrets } from './wrong-secrets.ts'

const limits = limitsOf({
  /** Failed authentications in one window before the answer is 429. Limits load and log noise. */
  failuresPerAddress: 60,
  failuresPerAddressAndClient: 10,
})

/** Counts failures for the sender's address only, so that nobody can lock a customer out. */
export type GuessLimiter = {
  /** Admits an attempt before credentials are looked up, so a right guess is limited too. */
  admit(address: string, clientId: string): Promise<Admission>
}

/** `ended` must be called once. A refusal says how many seconds to wait. */
type Admission =
  | { readonly isAdmitted: true; ended(outcome: 'succeeded' | 'failed'): void }
  | { readonly isAdmitted: false; readonly waitSeconds: number }

export function openGuessLimiter(): GuessLimiter {
  const byAddress = openWrongSecrets(limits.failuresPerAddress)
  const byClient = openWrongSecrets(limits.failuresPerAddressAndClient)
  return {
    admit: async (address, clientId) => {
      const network = networkOf(address)
      // The caller chooses the id. Cutting it bounds memory.
      const client = `${network} ${clientId.slice(0, 64)}`
      // The narrower count comes first, so that one client's queue holds no place of the address.
      const clientWaitMs = await byClient.enter(client)
      const waitMs = clientWaitMs > 0 ? clientWaitMs : await byAddress.enter(network)
      if (waitMs === 0) {
        return {
          isAdmitted: true,
          ended: (outcome) => {
            byClient.leave(client, outcome)
            byAddress.leave(network, outcome)
          },
        }
      }
      if (clientWaitMs === 0) byClient.leave(client, 'succeeded')
      return { isAdmitted: false, waitSeconds: Math.ceil(waitMs / 1000) }
    },
  }
}

/** Admits every attempt: for the sandbox, whose secrets are public. */
export const unlimitedGuesses: GuessLimiter = {
  admit: async () => ({ isAdmitted: true, ended: () => {} }),
}
