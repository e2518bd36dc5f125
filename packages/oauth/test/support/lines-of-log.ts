import { pino } from 'pino'

/** A log for a test, and the lines that it has so far. */
export function linesOfLog() {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  return { lines: () => lines, log }
}
