import { runGroup } from '../support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  'operations/{create-crypto-withdrawal-fee,list-events,recovery}.test.ts',
  'operations/ingest/*.test.ts',
)
