import { runGroup } from '../support/run-group.ts'

await runGroup('postgres', 'store/postgres/*.test.ts')
