import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'sqlite', '{files,requests,stored}/*.test.ts', '*.test.ts')
