import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'postgres', 'model/*.test.ts', 'history/*.test.ts')
