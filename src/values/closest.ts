import { distance } from 'fastest-levenshtein'

/**
 * The known name that a misspelt one probably means: at most two letters or a quarter of them
 * differ, or its words are some of the known name's words. Undefined if no name is that close.
 */
export function closest(given: string, known: readonly string[]): string | undefined {
  const differingMax = (name: string) => Math.max(2, name.length / 4)
  const ranked = known
    .filter((name) => Math.abs(name.length - given.length) <= differingMax(name))
    .map((name) => ({ name, differing: distance(given, name) }))
    .filter(({ name, differing }) => differing <= differingMax(name))
    .toSorted((a, b) => a.differing - b.differing)
  return ranked[0]?.name ?? known.find((name) => sharesWords(given, name))
}

/** `BURSAR_PROXIES` and `BURSAR_TRUSTED_PROXIES`. One word alone is no hint. */
function sharesWords(given: string, known: string): boolean {
  const [words, others] = [given.split('_'), known.split('_')]
  return words.length > 1 && words.every((word) => others.includes(word))
}
