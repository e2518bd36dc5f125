import { runGroup } from '../support/run-group.ts'

await runGroup(
  import.meta,
  'sqlite',
  'platform/*.test.ts',
  'values/*.test.ts',
  'vault/*.test.ts',
  'events/*.test.ts',
)
