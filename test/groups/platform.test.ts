import { runGroup } from '../support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'events/*.test.ts', 'platform/service-gauges.test.ts')
