import { runGroup } from '../../../../test/support/run-group.ts'

await runGroup(import.meta, 'sqlite', '{files,requests}/*.test.ts', '*.test.ts')
