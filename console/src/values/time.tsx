import { useIsUtc } from './preferences.ts'

/** An instant to the second, in UTC or local time; the exact text is its title. */
export function Time({ at }: { readonly at: unknown }) {
  const isUtc = useIsUtc()
  if (typeof at !== 'string' || at === '') return <span className="none">none</span>
  return (
    <time dateTime={at} title={at} className="figure">
      {printTime(at, isUtc)}
    </time>
  )
}

/** `2026-10-31 12:00:00`. In UTC the text of the API is cut; only local times need a Date. */
export function printTime(at: string, isUtc: boolean): string {
  if (isUtc) return at.slice(0, 19).replace('T', ' ')
  const date = new Date(at)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  return `${day} ${time}`
}
