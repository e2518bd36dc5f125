import { groupedCount } from '../values/amounts.ts'
import { durationText } from '../values/times.ts'

type Details = Readonly<Record<string, unknown>>

const number = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined

/** A figure with its unit, in words: `age_s: 172800` is `2 days old`. */
export function figureText(name: string, value: unknown): string {
  const figure = number(value)
  if (figure === undefined) return String(value)
  if (name.endsWith('age_ms')) return `${durationText(figure)} old`
  if (name.endsWith('age_s')) return `${durationText(figure * 1000)} old`
  if (name.endsWith('_ms')) return figure < 10_000 ? `${figure} ms` : durationText(figure)
  if (name.endsWith('_s')) return durationText(figure * 1000)
  if (name.endsWith('bytes')) return bytesText(figure)
  return groupedCount(figure)
}

function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000
    ? `${(bytes / 1000).toFixed(0)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** One line about a part of the service: the figure that people ask for, or its status. */
export function checkText(name: string, check: Details): string {
  if (name === 'imports' && check.status !== 'unavailable') return importsText(check)
  if (check.status !== 'ok' && check.status !== 'ready') return String(check.status)
  if (name === 'credentials' && check.age_ms !== undefined) {
    return `Read ${durationText(number(check.age_ms) ?? 0)} ago`
  }
  if (name === 'store' && check.answer_ms !== undefined) {
    return `Answers in ${number(check.answer_ms)} ms`
  }
  if (name === 'log')
    return `${figureText('dropped_lines', check.dropped_lines ?? 0)} lines dropped`
  if (name === 'integrity') return 'None damaged'
  if (name === 'fees') return 'Known for every network'
  return 'Works'
}

/** How many imports of the last hour are in each state: `3 stored, 1 stored in part`. */
function importsText({ status: _, reason: __, ...counts }: Details): string {
  const words = Object.entries(counts).map(
    ([state, count]) => `${figureText(state, count)} ${memberWord(state)}`,
  )
  return `${words.length === 0 ? 'None' : words.join(', ')} in the last hour`
}

const memberWords: Readonly<Record<string, string>> = {
  age_ms: 'Read',
  age_s: 'Price',
  source: 'Source',
  dropped_lines: 'Dropped lines',
  ran_at: 'Last run',
  took_ms: 'Took',
  next_at: 'Next run',
  every_s: 'Every',
  running_since: 'Running since',
  failing_since: 'Failing since',
}

export const memberWord = (name: string): string =>
  memberWords[name] ?? name.replace(/_(ms|s)$/, '').replaceAll('_', ' ')
