export { isSealed } from './clients/client-seal.ts'
export {
  type ClientDeps,
  createClient,
  createSampleClient,
  disableClient,
  type Refused,
  readClientKeys,
  rotateClient,
  updateClient,
} from './clients/clients.ts'
export { confirmClients, startRecovery } from './clients/confirm-clients.ts'
export { eraseClients } from './clients/erase-clients.ts'
export { type GuessLimiter, unlimitedGuesses } from './clients/guess-limiter.ts'
export { publishedClients, requireNoPublishedSecret } from './clients/published-secrets.ts'
export { renewMarks } from './clients/renew-marks.ts'
export { requireOneIssuer, requirePublicUrl, warnOfPlainHttp } from './issuer.ts'
export { type OAuth, openOAuth } from './open-oauth.ts'
export { refusals } from './tokens/refusal.ts'
export { describeSigningKeys } from './tokens/signing-keys.ts'
export { tokenDigest } from './tokens/token-check.ts'
