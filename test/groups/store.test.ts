import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'store/*.test.ts', 'store/sqlite/*.test.ts')
