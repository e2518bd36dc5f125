import type { Route } from '../contract/request.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Logger } from '../platform/log.ts'
import type { CredentialStore } from '../store/credentials.ts'
import type { Keyring } from '../vault/keyring.ts'
import { openGuessLimiter } from './clients/guess-limiter.ts'
import { openUseRecorder } from './clients/use-recorder.ts'
import { oauthRoutes } from './endpoints/routes.ts'
import { openTrustedIssuers } from './tokens/external-token.ts'
import { type Every, everyInterval, type Freshness, openStates } from './tokens/states.ts'
import { openVerifier, type Verifier } from './tokens/verifier.ts'

export type OAuthSources = {
  readonly store: CredentialStore
  readonly keyring: Keyring
  readonly config: Pick<Config, 'tokenLifeSeconds' | 'credentialsAgeSecondsMax' | 'trustedIssuers'>
  /** The public URL. Asked each time, since the port may be known only after listening. */
  readonly issuer: () => string
  readonly clock: Clock
  readonly log: Logger
  readonly every?: Every
}

/** The whole OAuth side of a running server. */
export type OAuth = {
  readonly routes: readonly Route[]
  readonly verify: Verifier['verify']
  readonly identify: Verifier['identify']
  /** For `/readyz`: not ready while not fresh. */
  freshness(): Freshness
  /** Looks for changes now instead of at the next poll. */
  refresh(): Promise<void>
  /** Ends the polling. The store stays open: whoever opened it closes it. */
  close(): void
}

/** Reads clients and keys once, then keeps them fresh. Rejects where the store cannot be read. */
export async function openOAuth(sources: OAuthSources): Promise<OAuth> {
  const { store, clock, log, config } = sources
  const every = sources.every ?? everyInterval
  const ageSecondsMax = config.credentialsAgeSecondsMax
  const states = await openStates({ ...sources, every, ageSecondsMax })
  const issuers = openTrustedIssuers({ issuers: config.trustedIssuers, clock, log, every })
  const uses = openUseRecorder({ store, clock, log })
  const parts = { ...sources, states, issuers, uses }
  const { tokenLifeSeconds } = config
  const routes = oauthRoutes({ ...parts, limiter: openGuessLimiter(), tokenLifeSeconds })
  const { verify, identify } = openVerifier(parts)
  return {
    routes,
    verify,
    identify,
    freshness: states.freshness,
    refresh: async () => {
      await Promise.all([states.refresh(), issuers.refresh()])
    },
    close: () => {
      states.close()
      issuers.close()
    },
  }
}
