import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'sdk/*.test.ts', 'console/*.test.ts')
