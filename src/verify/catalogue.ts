import type { Statement } from './statement.ts'
import { answerStatements } from './statements/answers.ts'
import { authorizationStatements } from './statements/authorization.ts'
import { cachingStatements } from './statements/caching.ts'
import { cursorStatements } from './statements/cursors.ts'
import { feeStatements } from './statements/fees.ts'
import { filterStatements } from './statements/filters.ts'
import { isolationStatements } from './statements/isolation.ts'
import { maskingStatements } from './statements/masking.ts'
import { orderStatements } from './statements/order.ts'
import { pagingStatements } from './statements/paging.ts'
import { parameterStatements } from './statements/parameters.ts'
import { problemStatements } from './statements/problems.ts'
import { readStatements } from './statements/reads.ts'
import { tokenStatements } from './statements/tokens.ts'
import { valueStatements } from './statements/values.ts'

/** Every statement, in the order of the report. */
export const catalogue: readonly Statement[] = [
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
  ...feeStatements,
  ...answerStatements,
]
