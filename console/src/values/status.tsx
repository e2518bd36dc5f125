import { Icon, type IconName } from './icon.tsx'
import { wordOf } from './labels.ts'

export type Tone = 'ok' | 'wait' | 'bad' | 'info' | 'off'

type Look = readonly [tone: Tone, icon: IconName, word?: string]

/** A status as a shape and a word, then a colour: nobody needs the colour. */
export function Status(props: { readonly value: unknown; readonly title?: string }) {
  const value = String(props.value ?? '')
  const [tone, icon, word = wordOf(value)] = looks[value] ?? (['off', 'open'] satisfies Look)
  return (
    <span className={`status ${tone}`} title={props.title ?? `status: ${value}`}>
      <Icon name={icon} />
      {word}
    </span>
  )
}

/** The word of a status alone, where a sentence or a file needs it. */
export const statusWord = (value: string): string => looks[value]?.[2] ?? wordOf(value)

const looks: Readonly<Record<string, Look>> = {
  APPROVED: ['ok', 'ok'],
  VALID: ['ok', 'ok'],
  COMPLETE: ['ok', 'ok'],
  STATEMENT_STATUS_PAID: ['ok', 'ok'],
  PAID_IN_PART: ['wait', 'wait', 'Paid in part'],
  OPEN: ['info', 'info'],
  CONSUMED: ['ok', 'ok', 'Used'],
  EXPIRED: ['off', 'clock'],
  PENDING: ['wait', 'wait'],
  STATEMENT_STATUS_INITIATED: ['off', 'open'],
  STATEMENT_STATUS_GENERATED: ['info', 'info'],
  FAILED: ['bad', 'bad'],
  REJECTED: ['bad', 'bad'],
  DELETED: ['bad', 'x', 'Deleted'],
  DEPRECATED: ['off', 'off'],
  ready: ['ok', 'ok', 'Ready'],
  ok: ['ok', 'ok', 'Works'],
  degraded: ['wait', 'wait', 'Works in part'],
  waiting: ['off', 'open', 'Has not run yet'],
  failed: ['bad', 'bad', 'Failed'],
  unavailable: ['bad', 'bad', 'Cannot be reached'],
}
