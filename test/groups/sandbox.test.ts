import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'sandbox/*.test.ts', 'testing/*.test.ts')
