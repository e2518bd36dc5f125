export { sqliteFiles } from './backup/sqlite-files.ts'
export { compactFile } from './files/compact-file.ts'
export { embeddedChecks } from './files/embedded-checks.ts'
export {
  closeFiles,
  isVacant,
  isWhole,
  keyFileBeside,
  requireFiles,
  storePaths,
} from './files/require-files.ts'
export { isServed } from './files/server-lock.ts'
export { appliedSteps } from './migrate.ts'
export { type EmbeddedMode, openEmbeddedStores } from './open-embedded-stores.ts'
export { openSqliteAuditReader } from './open-sqlite-audit.ts'
