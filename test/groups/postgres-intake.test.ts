import { runGroup } from '../support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  'intake/requests/*.test.ts',
  'cli/{customer,import-export,import-files,postgres}.test.ts',
  'intake/{merge,files/known-*}.test.ts',
  'http/{clock-jumps,event-waits,metrics,traces}.test.ts',
)
