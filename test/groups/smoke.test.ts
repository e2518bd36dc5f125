import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'smoke/*.test.ts', 'browser/smoke.test.ts')
