import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'sqlite', '!(postgres).test.ts')
