import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'intake/**/*.test.ts')
