import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'sandbox/*.test.ts', 'testing/*.test.ts')
