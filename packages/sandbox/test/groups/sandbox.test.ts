import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'sqlite', '*.test.ts', 'testing/*.test.ts')
