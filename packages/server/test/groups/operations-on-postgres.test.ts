import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  'http/{clock-jumps,event-waits,metrics,traces}.test.ts',
  'operations/{create-crypto-withdrawal-fee,list-events,recovery}.test.ts',
  'operations/ingest/*.test.ts',
)
