import { runGroup } from '../support/run-group.ts'

await runGroup('postgres', 'model/*.test.ts', 'history/*.test.ts')
