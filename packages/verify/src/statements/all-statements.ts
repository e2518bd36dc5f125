import type { Check, Statement } from '../check-statement.ts'
import { lawOf } from '../laws.ts'
import { answerStatements, problemStatements } from './answer-statements.ts'
import { authorizationStatements } from './authorization-statements.ts'
import { cachingStatements } from './caching-statements.ts'
import { eventStatements } from './event-statements.ts'
import { feeStatements } from './fee-statements.ts'
import { filterStatements } from './filter-statements.ts'
import { isolationStatements } from './isolation-statements.ts'
import { maskingStatements } from './masking-statements.ts'
import { orderStatements } from './order-statements.ts'
import { cursorStatements, pagingStatements } from './paging-statements.ts'
import { parameterStatements } from './parameter-statements.ts'
import { pastStatements } from './past-statements.ts'
import { readStatements } from './read-statements.ts'
import { tokenStatements } from './token-statements.ts'
import { valueStatements } from './value-statements.ts'

const checks = {
  ...tokenStatements,
  ...authorizationStatements,
  ...problemStatements,
  ...parameterStatements,
  ...pagingStatements,
  ...orderStatements,
  ...cursorStatements,
  ...filterStatements,
  ...readStatements,
  ...maskingStatements,
  ...valueStatements,
  ...isolationStatements,
  ...cachingStatements,
  ...eventStatements,
  ...pastStatements,
  ...feeStatements,
  ...answerStatements,
}

/** Every statement, in the order of the report. */
export const allStatements: readonly Statement[] = Object.entries<Check>(checks).map(
  ([id, check]) => ({ id, ...lawOf(id, check.law), ...check }),
)
