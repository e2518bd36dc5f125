import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'operations/**/*.test.ts')
