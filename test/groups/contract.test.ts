import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'contract/!(declarations|declared-names).test.ts')
