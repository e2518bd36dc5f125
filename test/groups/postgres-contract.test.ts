import { runGroup } from '../support/run-group.ts'

await runGroup(
  import.meta,
  'postgres',
  'contract/!(authentication|declarations|declared-names|fuzz|fuzz-operator|masking|openapi|openapi-examples|parameters|problems).test.ts',
)
