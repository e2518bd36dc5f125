import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'http/*.test.ts')
