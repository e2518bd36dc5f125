export {
  checkPostgres,
  compactPostgres,
  lastArchivedAt,
  migratePostgres,
  openOperatorPostgres,
  openServicePostgres,
  poolerSettings,
  postgresChecks,
  primaryOf,
  withOwnedAudit,
} from './open-stores.ts'
export type { Roles } from './schema/grants.ts'
