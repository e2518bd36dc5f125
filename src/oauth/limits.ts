/** Every limit of the OAuth side, with its reason. */

/**
 * No token of ours lives longer, whatever the setting says now or said before. Also how long a rotated key
 * stays published.
 */
export const tokenLifeSecondsMax = 3600

/** Between our own processes' clocks, which NTP keeps within milliseconds: a token may be so much "from the future". */
export const ownSkewSeconds = 5

/** Between us and another issuer. FAPI 2.0 asks servers to bear 10 s and to refuse more than 60 s. */
export const externalSkewSeconds = 30

/** The longest life of another issuer's token; large issuers default to 24 h. */
export const externalLifeSecondsMax = 86_400

/** Bounds what is decoded before any signature is checked. Ours have about 700 characters. */
export const tokenLengthMax = 8192

/** About 4 MB. A verified token is looked up by its digest instead of being verified again. */
export const verifiedTokensMax = 10_000
export const verifiedTokenLifeSeconds = 60

/** A disabled client must be refused within 10 s on every process: this, twice, and time to spare. */
export const pollIntervalMs = 2000

/** Anyone can send an unknown key id: so often at most it makes us look at the store before the next poll. */
export const unknownKeyIntervalMs = 200

/** A private_key_jwt assertion is made for one request; more than this is a credential that lies about. */
export const assertionLifeSecondsMax = 300
export const assertionIdLengthMax = 256

/** A client of any size needs two keys while it rotates; more only slow the search. */
export const clientKeysMax = 10

/** The fields of a form; the longest (an assertion) fits well within the 16 KiB of a body. */
export const formFieldsMax = 20
export const formFieldLengthMax = 12_288

/** "Last used" is for people: a write a minute is precise enough and keeps tokens cheap. */
export const useRecordedEverySeconds = 60

/**
 * Failed authentications in a minute before the answer is 429. A secret has 256 random bits, so this is
 * against load and logs full of noise; only the guesser's own address is slowed down, no customer is locked out.
 */
export const failuresPerAddress = 60
export const failuresPerAddressAndClient = 10
export const failureWindowSeconds = 60

/** About 400 bytes each: what a flood of addresses can make us remember is bounded; the oldest goes first. */
export const failureKeysMax = 10_000

/** Another issuer's keys: read again so often in the background, and used so long while it cannot be reached. */
export const issuerRefreshMs = 5 * 60 * 1000
export const issuerStaleSeconds = 24 * 3600
/** An unknown key id makes us ask that issuer again at most so often, else anyone could make us flood it. */
export const issuerCoolDownSeconds = 30
export const issuerTimeoutMs = 5000
export const issuerAnswerBytesMax = 262_144
export const issuerKeysMax = 100
