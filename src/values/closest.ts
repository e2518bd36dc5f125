/**
 * The known name that a misspelt one probably means: at most a quarter of its letters differ, or
 * its words are some of the known name's words. Undefined if no name is that close.
 */
export function closest(given: string, known: readonly string[]): string | undefined {
  const isClose = (name: string) => distance(given, name) <= Math.max(1, name.length / 4)
  const ranked = known
    .filter((name) => Math.abs(name.length - given.length) <= name.length / 4 && isClose(name))
    .toSorted((a, b) => distance(given, a) - distance(given, b))
  return ranked[0] ?? known.find((name) => sharesWords(given, name))
}

/** `BURSAR_PROXIES` and `BURSAR_TRUSTED_PROXIES`. One word alone is no hint. */
function sharesWords(given: string, known: string): boolean {
  const [words, others] = [given.split('_'), known.split('_')]
  return words.length > 1 && words.every((word) => others.includes(word))
}

/** Letters to insert, delete, replace or swap with a neighbour, after Damerau and Levenshtein. */
function distance(a: string, b: string): number {
  let [before, previous]: [number[], number[]] = [
    [],
    Array.from({ length: b.length + 1 }, (_, at) => at),
  ]
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1
      const isSwap =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current.push(
        Math.min(
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (previous[column - 1] ?? 0) + cost,
          isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    ;[before, previous] = [previous, current]
  }
  return previous[b.length] ?? 0
}
