import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'model/*.test.ts', 'history/*.test.ts')
