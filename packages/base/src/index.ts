export { type Background, type JobState, openBackground, type Ran } from './background.ts'
export { startWalk } from './background-walk.ts'
export { type BoundedRequest, fetchBounded, readBody } from './bounded-fetch.ts'
export { type Clock, type MovableClock, openMovableClock } from './clock.ts'
export {
  type Config,
  ConfigError,
  DEFAULT_FILE,
  listed,
  loadConfig,
  readTextFile,
} from './config.ts'
export { limitNamed, limitsOf, setLimit } from './declare-limits.ts'
export { type FairQueue, openFairQueue, type Turn } from './fair-queue.ts'
export { type Check, type Finding, refusalOf } from './finding.ts'
export { freeMemory, pageBuffers } from './lent-buffers.ts'
export { baseLimits } from './limits.ts'
export { type Logger, logStateOf, openLog, REQUEST_LINE } from './log.ts'
export {
  descriptorAdvice,
  descriptorsWanted,
  readDescriptorLimit,
} from './machine/descriptor-limit.ts'
export { hasFreeDescriptors, isOutOfDescriptors, outOfDescriptors } from './machine/exhaustion.ts'
export { freeBytesOf } from './machine/free-bytes.ts'
export { areHostsShared, isLoopback, isWildcard, urlHost } from './machine/loopback.ts'
export { createServer, IncomingMessage, STATUS_CODES } from './machine/node-http.ts'
export { NoOwnNode, ownNode } from './machine/own-node.ts'
export {
  closeToOthers,
  isOpenToOthers,
  makePrivateFile,
  makePrivateFolder,
  requirePrivate,
} from './machine/private-files.ts'
export { usableMemory } from './machine/usable-memory.ts'
export type { BatchName, PoolName } from './metrics/families.ts'
export { type Metrics, noMetrics, type Reading } from './metrics/metrics.ts'
export { openOnce } from './open-once.ts'
export { jsonFault, parseJson } from './parse-json.ts'
export { readPostgresUrl, type ServerAddress } from './postgres-url.ts'
export { keepRecentlyUsed } from './recently-used.ts'
export { openRequestMinutes, type RequestMinutes } from './request-minutes.ts'
export { throttle } from './schedule.ts'
export {
  hintFor,
  reasonOf,
  type Violation,
  validatorOf,
  violationsOf,
  withRule,
} from './schema-faults.ts'
export { Secret } from './secret.ts'
export { type Granted, grantedBy, type Right } from './settings/people.ts'
export { settings } from './settings/settings.ts'
export { isSafeUrl, type TrustedIssuer } from './settings/trusted-issuers.ts'
export { openTally, type Tally } from './tally.ts'
export { dateOf, systemTime, turn } from './time.ts'
export { openTimeSlices, type Pace, paceOf } from './time-slices.ts'
export { openTracing } from './traces/open-tracing.ts'
export type { Recorder } from './traces/recorder.ts'
export { apart, currentSpan, during, inSpan, type Span, step, within } from './traces/span.ts'
export { readTraceparent, type TraceContext } from './traces/trace-context.ts'
export { attempt } from './values/attempt.ts'
export { largest, smallest } from './values/bounds.ts'
export { closest, hintOf } from './values/closest.ts'
export { counted } from './values/counted.ts'
export { codeOf, damageOf, isCertainlyEven, oddityOf } from './values/damaged-text.ts'
export {
  decimalCharactersMax,
  decimalPattern,
  type ParsedDecimal,
  parseDecimal,
  printDecimal,
} from './values/decimal.ts'
export { decodeText, otherEncoding, withoutMark } from './values/decode-text.ts'
export {
  displayNameRule,
  foldAscii,
  foldText,
  matchesPrefix,
  parseDisplayName,
} from './values/display-name.ts'
export {
  type ExactDecimal,
  minus,
  plus,
  printExact,
  readExact,
  readSortKey,
  sortKeyOf,
  zero,
} from './values/exact-decimal.ts'
export { getOrInsert } from './values/get-or-insert.ts'
export { httpUrlFault } from './values/given-text.ts'
export {
  DAY_MICROS,
  HOUR_MICROS,
  type Instant,
  instantKey,
  isLeapSecond,
  isPrintable,
  parseInstant,
  printInstant,
} from './values/instant.ts'
export { networkOf } from './values/ip-network.ts'
export { wordsOf } from './values/name-words.ts'
export { type CryptoNetwork, cryptoNetworks, isCryptoNetwork } from './values/network.ts'
export { printable, printableJson, printableLines } from './values/printable.ts'
export { divideDown, divideUp, roundUpToStep } from './values/rounding.ts'
export { routingNumberFault } from './values/routing-number.ts'
export { isJsonBlank, membersAtMost, repeatedMembers, scanJson } from './values/scan-json.ts'
export {
  type BoundOperator,
  intersection,
  rangeOfBound,
  type TimeRange,
} from './values/time-range.ts'
export { uuidText } from './values/uuid-text.ts'
export {
  bindNumber,
  type CustomerKey,
  type IndexKey,
  keyFingerprint,
  makeCustomerKey,
  unwrapCustomerKey,
  type WrappedCustomerKey,
  wrapCustomerKey,
} from './vault/customer-key.ts'
export { openFileCipher, openFileDecipher } from './vault/file-cipher.ts'
export { answerKeyOf, importDigest, openAnswer, sealAnswer } from './vault/import-digest.ts'
export {
  type Keyring,
  olderKeys,
  PURPOSE_KEY_ID_LENGTH,
  type PurposeKey,
} from './vault/keyring.ts'
export { openVault } from './vault/open-vault.ts'
export { openPassingCipher } from './vault/passing-cipher.ts'
export {
  type Purpose,
  type PurposeKeyStore,
  purposes,
  resealedPurposes,
  type WrappedKey,
} from './vault/purpose-key.ts'
export { openRandomPool, type Random, systemRandom } from './vault/random.ts'
export {
  type BodyPlace,
  digestOf,
  keyIdOf,
  openBody,
  sealBody,
} from './vault/sealed-body.ts'
export { masterKeyOf } from './vault/wrap.ts'
export { commandHint, programName, version } from './version.ts'
