import type { Background, Clock, Config, Keyring, Logger, Metrics } from '@bursar/base'
import type { Interfere, PublicDocument, RateLimit, Route } from '@bursar/contract'
import type { CredentialStore } from '@bursar/records'
import { type GuessLimiter, openGuessLimiter } from './clients/guess-limiter.ts'
import { openUseRecorder } from './clients/use-recorder.ts'
import { oauthDocuments, oauthRoutes } from './endpoints/routes.ts'
import { type Freshness, openCredentialCache } from './tokens/credential-cache.ts'
import { openTrustedIssuers } from './tokens/external-token.ts'
import { openTokenCheck, type TokenCheck } from './tokens/token-check.ts'

export type OAuthDeps = {
  readonly store: CredentialStore
  readonly keyring: Keyring
  readonly config: Pick<Config, 'tokenLifeSeconds' | 'credentialsAgeSecondsMax' | 'trustedIssuers'>
  /** The public URL. A function, because the port may be known only after listening. */
  readonly issuer: () => string
  readonly clock: Clock
  /** Whether tests move `clock`, also back. */
  readonly clockMoves?: boolean
  readonly log: Logger
  /** Whether an answer says why an assertion is refused, as a sandbox's does. */
  readonly explains?: boolean
  readonly metrics?: Metrics
  readonly background: Background
  readonly rateLimit: RateLimit
  /** By default ten failures for one client, or sixty in all, shut out an address for a minute. */
  readonly limiter?: GuessLimiter
  /** Called soon after a key has changed, or an erasure has destroyed one. */
  readonly onKeysEnded?: () => void
}

/** The authorization server and the check of tokens of a running service. */
export type OAuth = TokenCheck & {
  /** In a sandbox, `interfere` makes token requests fail as tests ask. */
  routes(interfere?: Interfere): readonly Route[]
  readonly documents: readonly PublicDocument[]
  /** For `/readyz`, which fails while credentials are not fresh. */
  freshness(): Freshness
  /** Reads changed credentials now instead of at the next poll. */
  refresh(): Promise<void>
  /** Reads everything, after the store has gone back to an earlier state. */
  reload(): Promise<void>
  /** Stops polling. The caller closes the store. */
  close(): void
}

/** Reads clients and keys, then keeps them fresh. Rejects if the store cannot be read. */
export async function openOAuth({ config, ...given }: OAuthDeps): Promise<OAuth> {
  const { tokenLifeSeconds, trustedIssuers, credentialsAgeSecondsMax: ageSecondsMax } = config
  const store = given.clockMoves === true ? forgetsNothing(given.store) : given.store
  const deps = { limiter: openGuessLimiter(), ...given, store }
  const cache = await openCredentialCache({ ...deps, ageSecondsMax })
  const issuers = openTrustedIssuers({ ...deps, issuers: trustedIssuers })
  const parts = { ...deps, cache, issuers, uses: openUseRecorder(deps) }
  return {
    ...openTokenCheck(parts),
    routes: (interfere) => oauthRoutes({ ...parts, tokenLifeSeconds, interfere }),
    documents: oauthDocuments(parts),
    freshness: cache.freshness,
    refresh: async () => {
      await Promise.all([cache.refresh(), issuers.refresh()])
    },
    reload: cache.reload,
    close: () => {
      cache.close()
      issuers.close()
    },
  }
}

/**
 * A store deletes refused tokens and used assertions that have expired. Where tests move the clock,
 * it may go back, and they would count again.
 */
const forgetsNothing = (store: CredentialStore): CredentialStore => ({
  ...store,
  denyToken: (jti, expiresAt) => store.denyToken(jti, expiresAt, 0n),
  useAssertion: (clientId, jti, expiresAt) => store.useAssertion(clientId, jti, expiresAt, 0n),
})
