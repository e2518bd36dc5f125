import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  '{client-seal,commands,credential-store,persons,token-endpoint,token-states}.test.ts',
)
