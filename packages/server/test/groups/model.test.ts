import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'model/*.test.ts', 'history/*.test.ts')
