import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  'requests/*.test.ts',
  '{merge,files/known-*,stored/*}.test.ts',
)
