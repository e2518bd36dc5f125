import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'docs/*.test.ts')
