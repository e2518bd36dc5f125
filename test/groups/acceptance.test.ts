import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'acceptance/sandbox-records.test.ts')
