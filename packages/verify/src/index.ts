export type { Result } from './check-statement.ts'
export { allStatements } from './statements/all-statements.ts'
export { Unreachable } from './verdicts.ts'
export { isWordOf, verifyTarget } from './verify-target.ts'
