import { counted } from '../../values/counted.ts'
import type { Context, Statement } from '../check-statement.ts'
import { contract, extra, rfc } from '../source.ts'
import { hold, type NoAnswer, need } from '../verdicts.ts'

/**
 * What is seen of every answer of the run, and therefore checked last. A fault here is the cause of
 * others that the report cannot test, so it is named whichever statements are chosen.
 */
export const answerStatements: readonly Statement[] = [
  {
    id: 'answers.complete',
    says: 'Every answer arrives whole and in time.',
    source: extra('docs/integrating.md, “Timeouts”'),
    check: async (context) => hasNone('incomplete', context),
  },
  {
    id: 'answers.decodable',
    says: 'Every answer can be decoded: as its Content-Encoding says, and as JSON in UTF-8.',
    source: contract('1'),
    check: async (context) => hasNone('undecodable', context),
  },
  {
    id: 'answers.server-errors',
    says: 'No answer is 500, 501, 502 or 504.',
    source: rfc(9110, '15.6'),
    check: async ({ observed }) => {
      const errors = observed.refusals.filter(({ status }) => status >= 500 && status !== 503)
      const [error] = errors
      const says = `${errors.length} of ${counted(observed.requests, 'request')} failed, such as this one`
      if (error !== undefined) hold(false, says, error)
    },
  },
  {
    id: 'answers.retry-after',
    says: 'Every answer 429 and 503 has Retry-After.',
    source: rfc(6585, '4'),
    check: async ({ observed }) => {
      const refusals = observed.refusals.filter(({ status }) => [429, 503].includes(status))
      need(refusals.length > 0, 'no answer was 429 or 503')
      for (const refusal of refusals) {
        const isThere = /^\d+$/.test(refusal.headers.get('retry-after') ?? '')
        hold(isThere, 'Retry-After must state seconds', refusal)
      }
    },
  },
]

/** One finding, however many requests failed. */
function hasNone(kind: NoAnswer['kind'], { observed }: Context): void {
  const failures = observed.failures.filter((failure) => failure.kind === kind)
  const [first] = failures
  if (first === undefined) return
  const says = `${first.message} (${failures.length} of ${counted(observed.requests, 'request')})`
  hold(false, says, first.evidence)
}
