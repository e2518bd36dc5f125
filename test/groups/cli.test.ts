import { runGroup } from '../support/run-group.ts'

await runGroup('sqlite', 'cli/!(postgres).test.ts')
