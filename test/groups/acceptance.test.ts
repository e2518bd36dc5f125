import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'acceptance/*.test.ts')
