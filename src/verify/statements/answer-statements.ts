import { counted } from '../../values/counted.ts'
import { type Checks, type Context, once } from '../check-statement.ts'
import { hold, type NoAnswer, need } from '../verdicts.ts'

/**
 * What is seen of every answer of the run, and therefore checked last. A fault here is the cause of
 * others that the report cannot test, so it is named whichever statements are chosen.
 */
export const answerStatements: Checks = {
  'answers.complete': once(async (context) => hasNone('incomplete', context)),
  'answers.decodable': once(async (context) => hasNone('undecodable', context)),
  'answers.server-errors': once(async ({ observed }) => {
    const errors = observed.refusals.filter(({ status }) => status >= 500 && status !== 503)
    const [error] = errors
    const says = `${errors.length} of ${counted(observed.requests, 'request')} failed, such as this one`
    if (error !== undefined) hold(false, says, error)
  }),
  'answers.retry-after': once(async ({ observed }) => {
    const refusals = observed.refusals.filter(({ status }) => [429, 503].includes(status))
    need(refusals.length > 0, 'no answer was 429 or 503')
    for (const refusal of refusals) {
      const isThere = /^\d+$/.test(refusal.headers.get('retry-after') ?? '')
      hold(isThere, 'Retry-After must state seconds', refusal)
    }
  }),
}

/** One finding, however many requests failed. */
function hasNone(kind: NoAnswer['kind'], { observed }: Context): void {
  const failures = observed.failures.filter((failure) => failure.kind === kind)
  const [first] = failures
  if (first === undefined) return
  const says = `${first.message} (${failures.length} of ${counted(observed.requests, 'request')})`
  hold(false, says, first.evidence)
}
