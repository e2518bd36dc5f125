import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'postgres', 'store/*.test.ts')
