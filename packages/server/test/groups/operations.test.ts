import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'sqlite', 'operations/**/*.test.ts', 'events/*.test.ts', '*.test.ts')
