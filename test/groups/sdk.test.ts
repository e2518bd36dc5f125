import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'sdk/*.test.ts', 'console/*.test.ts')
