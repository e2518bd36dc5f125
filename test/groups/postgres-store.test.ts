import { runGroup } from '../support/run-group.ts'

await runGroup('postgres', 'store/*.test.ts')
