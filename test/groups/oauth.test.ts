import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'oauth/*.test.ts')
