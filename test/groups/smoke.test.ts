import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'smoke/*.test.ts', 'browser/smoke.test.ts')
