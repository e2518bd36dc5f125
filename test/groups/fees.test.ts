import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'fees/**/*.test.ts')
