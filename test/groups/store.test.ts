import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'store/sqlite/*.test.ts')
