import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  'contract/!(authentication|fuzz|fuzz-operator|masking|openapi|openapi-examples|parameters|problems).test.ts',
)
