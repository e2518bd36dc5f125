import { runGroup } from '../support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  'cli/{customer,import-export,import-files,postgres}.test.ts',
)
