import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  '{customer,import-export,import-files,postgres,status}.test.ts',
)
