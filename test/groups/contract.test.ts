import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'contract/*.test.ts')
