import { printable } from '@bursar/base'

/** The place of a fault: the number of its file, from 0, and its line there. */
export type Place = { readonly file: number; readonly line: number }

/** Numbers the lines of several files through, because the store knows one number for a line. */
export type FileLines = {
  /** The number of a line. Line 0 is the whole file. */
  numberOf(place: Place): number
  /** Ends a file. The next one begins. */
  endFile(): void
  placeOf(number: number): Place
  /** The name of a line in a reason. */
  nameOf(number: number): string
}

export function openFileLines(names: readonly string[]): FileLines {
  const starts = [0]
  let end = 0
  const placeOf = (number: number): Place => {
    const file = starts.findLastIndex((start) => start <= number)
    return { file, line: number - (starts[file] ?? 0) }
  }
  const nameOf = (number: number): string => {
    const { file, line } = placeOf(number)
    return names.length === 1 ? `line ${line}` : `line ${line} of ${printable(names[file] ?? '')}`
  }
  return {
    numberOf: ({ file, line }) => {
      const number = (starts[file] ?? 0) + line
      end = Math.max(end, number)
      return number
    },
    endFile: () => {
      // An empty file has a number too, that of the whole file.
      end = Math.max(end, starts.at(-1) ?? 0)
      starts.push(end + 1)
    },
    placeOf,
    nameOf,
  }
}
