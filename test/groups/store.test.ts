import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'store/*.test.ts', 'store/sqlite/*.test.ts')
