export { exporting, fullView, seesInFull } from './access.ts'
export { answerHeaders } from './answers.ts'
export {
  type AuditActor,
  type AuditCommand,
  type AuditEntry,
  auditActions,
  type Deed,
} from './audit-entry.ts'
export type { PublicDocument } from './document.ts'
export { conflictCodes, faultCodes, type RecordFaultCode, recordFaultCodes } from './fault-codes.ts'
export { type ArrayField, type Field, figure, uuid } from './fields.ts'
export {
  type ImportState,
  importStates,
  isImportState,
  isWaitCode,
  type WaitCode,
  waitMeanings,
} from './import-states.ts'
export { contractLimits } from './limits.ts'
export { about, component, enumMember } from './members.ts'
export {
  type Body,
  type BodyInput,
  capitalised,
  type GetOperation,
  type HeldRight,
  type ListOperation,
  type Operation,
  type OperatorInput,
  type OperatorWork,
  type OperatorWorks,
  type ParameterValue,
  type PastList,
  type RawBody,
  type Work,
  type WorkAnswer,
  type WorkInput,
} from './operation.ts'
export {
  createCryptoWithdrawalFee,
  cryptoWithdrawal,
} from './operations/create-crypto-withdrawal-fee.ts'
export { gets, lists, operations } from './operations/index.ts'
export { consumeWithdrawalFee } from './operations/ingest/consume-withdrawal-fee.ts'
export { getAttention } from './operations/ingest/get-attention.ts'
export { getCaller } from './operations/ingest/get-caller.ts'
export { getHealth } from './operations/ingest/get-health.ts'
export { getWithdrawalFee } from './operations/ingest/get-withdrawal-fee.ts'
export { ingestOperations } from './operations/ingest/index.ts'
export { listChanges } from './operations/ingest/list-changes.ts'
export { listCustomers } from './operations/ingest/list-customers.ts'
export { listLatestChanges } from './operations/ingest/list-latest-changes.ts'
export { maskedResources, readsOf } from './operations/ingest/list-record-reads.ts'
export { listOfAll } from './operations/ingest/listed-records.ts'
export { historyOf, listPastRecords } from './operations/ingest/record-histories.ts'
export { cancelImport, getImport, listImports } from './operations/ingest/registered-imports.ts'
export { searchRecords } from './operations/ingest/search-records.ts'
export { callsOf } from './operations/ingest/stored-records.ts'
export { getEvent, listEvents } from './operations/list-events.ts'
export { sandboxOperations } from './operations/sandbox/index.ts'
export { moveSandboxClock, readSandboxClock } from './operations/sandbox/sandbox-clock.ts'
export {
  createSandboxCustomer,
  deleteSandboxCustomer,
  listSandboxCustomers,
} from './operations/sandbox/sandbox-customers.ts'
export {
  createSandboxFault,
  deleteSandboxFault,
  deleteSandboxFaults,
  faultKinds,
  listSandboxFaults,
  tokenOperation,
} from './operations/sandbox/sandbox-faults.ts'
export { deleteSandboxRecord, putSandboxRecords } from './operations/sandbox/sandbox-records.ts'
export { listSandboxRequests } from './operations/sandbox/sandbox-requests.ts'
export { sandboxReset } from './operations/sandbox/sandbox-reset.ts'
export {
  createSandboxSnapshot,
  deleteSandboxSnapshot,
  listSandboxSnapshots,
  restoreSandboxSnapshot,
} from './operations/sandbox/sandbox-snapshots.ts'
export { pastInstant } from './past-instant.ts'
export {
  asTenant,
  type Caller,
  type OperatorPrincipal,
  type Person,
  type Principal,
  type Tenant,
} from './principal.ts'
export {
  echo,
  invalidParameters,
  isFailure,
  noneFound,
  type ParameterFault,
  Problem,
  type ProblemGuide,
  type ProblemSlug,
  problem,
  problemOfStatus,
  problemTypes,
  reasonOf,
  statusGuides,
} from './problem.ts'
export {
  type Answer,
  authorizationHeaders,
  type InjectedFault,
  type Interfere,
  jsonAnswer,
  queryNames,
  type RateLimit,
  type Request,
  type ReserveAnswer,
  type Route,
  type Trace,
} from './request.ts'
export {
  fullTable,
  isKeyedKind,
  isSealedKind,
  type ListView,
  type RecordFault,
  type RecordInput,
  type RecordRules,
  type Resource,
  type Term,
  type Terms,
  type View,
} from './resource.ts'
export { type RecordKind, recordKinds, resourceOf, resources } from './resources/catalogue.ts'
export { conversionTargets } from './resources/deposit-address.ts'
export {
  eventKinds,
  eventTypeOf,
  kindOfType,
  kindsOfScopes,
  objectTypeOf,
} from './resources/event-types.ts'
export {
  type AssetAmounts,
  amountsOf,
  assetOfPlace,
  startOfAsset,
  statementOrders,
} from './resources/statement-terms.ts'
export { type Refusal, refusalOf } from './schema-refusal.ts'
export {
  customerScopes,
  type OperatorScope,
  operatorScopes,
  readScopes,
  scopesOf,
} from './scopes.ts'
