import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const oauthLimits = limitsOf({
  /** No token that Bursar issues lives longer. A rotated key stays published for as long. */
  tokenLifeSecondsMax: 3600,
  /** Clock skew between Bursar's own hosts. NTP keeps them within milliseconds. */
  ownSkewSeconds: 5,
  /** The smallest RSA key of a client or issuer. */
  rsaBitsMin: 2048,
})
