/** A status as a word and a shape, so that nobody needs its colour. */
export function Status({ value }: { readonly value: unknown }) {
  const word = String(value ?? '')
  const tone = tones[word] ?? 'neutral'
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{shapes[tone]}</span>{' '}
      {word.replace(/^STATEMENT_STATUS_/, '').replaceAll('_', ' ')}
    </span>
  )
}

type Tone = 'good' | 'waiting' | 'bad' | 'neutral'

const shapes: Readonly<Record<Tone, string>> = { good: '●', waiting: '◐', bad: '▲', neutral: '○' }

const tones: Readonly<Record<string, Tone>> = {
  APPROVED: 'good',
  VALID: 'good',
  COMPLETE: 'good',
  STATEMENT_STATUS_PAID: 'good',
  OPEN: 'good',
  ready: 'good',
  ok: 'good',
  PENDING: 'waiting',
  STATEMENT_STATUS_INITIATED: 'waiting',
  STATEMENT_STATUS_GENERATED: 'waiting',
  degraded: 'waiting',
  FAILED: 'bad',
  REJECTED: 'bad',
  DELETED: 'bad',
  SHORTFALL: 'bad',
  failed: 'bad',
  unavailable: 'bad',
}
