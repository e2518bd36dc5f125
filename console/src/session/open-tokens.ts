import { type Session, SignInEnded } from './console-session.ts'

/** A token, and when it must be renewed: earlier than its end, so that no request meets it. */
export type HeldToken = { readonly text: string; readonly renewAt: number }

/** Gives out a token and renews it once for all who ask meanwhile. After the end it gives none. */
export function openTokens(
  first: HeldToken,
  renew: () => Promise<HeldToken>,
): Pick<Session, 'token' | 'end'> {
  let held = first
  let renewing: Promise<void> | undefined
  let isEnded = false
  const requireSignIn = () => {
    if (isEnded) throw new SignInEnded('You have signed out.')
  }
  return {
    token: async () => {
      requireSignIn()
      if (Date.now() > held.renewAt) {
        renewing ??= renew()
          .then((renewed) => {
            held = renewed
          })
          .finally(() => {
            renewing = undefined
          })
        await renewing
        requireSignIn()
      }
      return held.text
    },
    end: () => {
      isEnded = true
    },
  }
}
