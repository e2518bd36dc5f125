import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'contract/*.test.ts')
