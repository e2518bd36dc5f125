export { countLines, headsSince, insertLines, listsOf } from './audit/audit-statements.ts'
export { openAuditReader } from './audit/open-audit-reader.ts'
export { openRecordReads } from './audit/open-record-reads.ts'
export { PruneRefused, pruneAudit } from './audit/prune-audit.ts'
export {
  type AuditCounts,
  type AuditReport,
  openHeads,
  startAuditReport,
} from './audit/report-audit.ts'
export { type AuditFault, type AuditFinding, verifyAudit } from './audit/verify-audit.ts'
export { openAudit } from './audit/write-audit.ts'
export type {
  AuditDeps,
  AuditHead,
  AuditKey,
  AuditLine,
  AuditLog,
  AuditPart,
  AuditReader,
  ReadLine,
} from './audit.ts'
export { openBatchQueue, type PendingRequest } from './batch-queue.ts'
export type { ChangeSource, ChangeWait, ChangeWatch } from './change-watch.ts'
export { destroyedKeyMethods } from './credentials/destroyed-keys.ts'
export { openCredentials } from './credentials/open-credentials.ts'
export { keyMethods } from './credentials/stored-keys.ts'
export type {
  Client,
  ClientMark,
  ClientMethod,
  ClientSecret,
  ClientWithSecrets,
  CredentialStore,
  Erasure,
  Recovery,
  RecoveryStore,
  SealMark,
} from './credentials.ts'
export { openRename } from './customers/rename-customer.ts'
export { DeedFailed, doing } from './deed.ts'
export { type Dialect, openParameters } from './dialect.ts'
export type { BoundMember, Consumed, FeeQuote, FeeQuoteStore, NewFeeQuote } from './fee-quotes.ts'
export { customersWork, describeCustomer } from './history/customers-work.ts'
export {
  describeHistory,
  describeOrigin,
  historyWork,
  idOf,
  nameOf,
  requireFound,
  requireHistoryScope,
} from './history/history-work.ts'
export { readUpdates } from './history/read-update.ts'
export { readsWork } from './history/reads-work.ts'
export { searchWork } from './history/search-work.ts'
export { importBegun, importEnded } from './imports/import-statements.ts'
export { type ImportLock, LOCK_NUMBER_END, type WaitingTransact } from './imports/open-imports.ts'
export {
  type CountedImports,
  ImportCancelled,
  type ImportCounts,
  type ImportFailure,
  type ImportRow,
  type Imports,
  type ImportsPart,
  type ListedImport,
  type RunningImport,
  type StoredOutcome,
} from './imports.ts'
export { isKeyedInClear } from './integrity/checksum.ts'
export type { DerivedFault, RowKey } from './integrity/derived-rows.ts'
export type { ReadBody, ReadRecords } from './integrity/intact-records.ts'
export {
  type CountedRow,
  comesAfter,
  DELETION_UNSURE,
  MASKED_MISSING,
  rowFaults,
  type StoredRow,
  type StoredRows,
  shownId,
  storedRows,
  type UnmaskedRow,
} from './integrity/stored-rows.ts'
export { recordsLimits } from './limits.ts'
export { PlaceLost } from './lost-places.ts'
export { otherCustomers } from './merge/conflict-queries.ts'
export { loadRecords, type StagingArea } from './merge/load-records.ts'
export { mergeInOrder } from './merge/merge-order.ts'
export { leaveChanging, mergeStaged } from './merge/merge-staged.ts'
export { type MergeStatements, mergeStatements, storedInFull } from './merge/merge-statements.ts'
export type { PutLocks } from './merge/put-batch.ts'
export type { PutTransactions } from './merge/put-queue.ts'
export {
  createImportStaging,
  createPutStaging,
  dropImportStaging,
  emptyStaging,
  indexStaged,
  stagedRows,
  stagedValues,
  stagingOf,
  stagingOfAll,
} from './merge/staging.ts'
export { openRecords } from './open-records.ts'
export type {
  AppliedAt,
  OpenedStores,
  SealedDeps,
  StoreDeps,
  StoreFiles,
  StoreWatch,
} from './opened-stores.ts'
export {
  changePlaceOf,
  changePosition,
  eventPlaceOf,
  eventPosition,
  POSITION_BYTES,
  type Position,
  positionId,
  positionOf,
} from './position.ts'
export { openFeeQuotes } from './quotes/open-quotes.ts'
export type {
  IssueAnswer,
  IssueBatch,
  IssueRequest,
  OperatorSessions,
} from './quotes/quote-sessions.ts'
export type { RecordReads } from './record-reads.ts'
export type {
  AcrossPage,
  AcrossPlace,
  AcrossRecords,
  AcrossSelection,
  Counted,
  Counting,
} from './records/across.ts'
export type {
  CustomerEntry,
  CustomerPlace,
  CustomerRegister,
} from './records/customer-entries.ts'
export type { ErasePlace } from './records/erasure.ts'
export { eventNumbers } from './records/event-actions.ts'
export {
  allNumbers,
  type CustomerEvents,
  type EventPlace,
  type EventRange,
  EventsUnknown,
  eventContent,
  placeAfter,
  type StoredEvent,
} from './records/events.ts'
export {
  type FoundRecord,
  type History,
  PastUnknown,
  type PruneKey,
  type VersionPlace,
} from './records/history.ts'
export {
  type ClientOrigin,
  type FoundFaults,
  type ImportOrigin,
  joinFaults,
  type LineFault,
  type LineName,
  type LoadOptions,
  type MergeOptions,
  type MergeOrigin,
  type MergeReport,
  noFaults,
  type OnStep,
  type RecordLoad,
  type SealedRecord,
  type StorableRecord,
} from './records/import.ts'
export {
  bySelectivity,
  type ColumnFilter,
  type KeyRange,
  lastChange,
  namesOneRecord,
  type Page,
  type PageRows,
  type ReadPage,
  type Revision,
  rangeOf,
  readLastChange,
  type Selection,
} from './records/page.ts'
export type { Precondition, PutOutcome } from './records/put.ts'
export { printTerms, privateTerms, termRowsOf } from './records/terms.ts'
export type { OperatorRecords, Store, StoreServer } from './records.ts'
export { isTrue, type NamedRow, optionalText, optionalWhole, text, whole } from './row.ts'
export type { NewRecords, PastRecords, SandboxHistory, SandboxState } from './sandbox-state.ts'
export { customerNumber, noteOneDue, ownerOf, ownerWith } from './schema/customers.ts'
export {
  heldMembers,
  holdValues,
  type LetGo,
  letGoStatements,
  selectValues,
} from './schema/held-values.ts'
export { removeTerms } from './schema/record-terms.ts'
export {
  type AppliedStep,
  applyStep,
  createStepTable,
  type DatabaseName,
  dueSteps,
  type OwnStatements,
  type Step,
  schemaSteps,
} from './schema/steps.ts'
export {
  filterColumns,
  filterValue,
  heldTable,
  historyTables,
  memberColumns,
  nameTables,
  recordTables,
  tablesOf,
  termTable,
} from './schema/tables.ts'
export { ensureKeys, type KeyMaking, openBindings } from './sealing/customer-key-rows.ts'
export type { CustomerKeySource, CustomerKeys, NewCustomerKey } from './sealing/customer-keys.ts'
export {
  addBoundCustomers,
  NOT_OWN,
  openCustomerNumbers,
  settleOwners,
} from './sealing/customer-numbers.ts'
export { keySources, openedKeys, type Stores } from './sealing/opened-keys.ts'
export { openWith } from './sealing/opening.ts'
export type { Resealing } from './sealing/reseal.ts'
export { openSeals, type Sealing, type Seals, sealRecord } from './sealing/seals.ts'
export {
  holds,
  type Reads,
  type Session,
  type Shown,
  type StagedValue,
  type Staging,
  type Statement,
  type TenantReads,
  type Transact,
  type Value,
} from './session.ts'
export { openSpoolsOf, type ReceivedFile, type Spool, type Spools, spoolFolderOf } from './spool.ts'
export { inBatchSpan, inStatement, laterStatement } from './traced-work.ts'
export {
  CustomersLocked,
  NoPrimary,
  NothingChanged,
  StoreCorrupted,
  StoreDamaged,
  StoreRefused,
  StoreServed,
  StoreUnavailable,
} from './unavailable.ts'
export { type AskedPastPage, pastRowReader, type ReadPastRow } from './versions/past-page.ts'
export { pastRange } from './versions/past-page-query.ts'
