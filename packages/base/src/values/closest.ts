import { distance } from 'fastest-levenshtein'

/** `; did you mean X?`, or nothing if no known name is close to what was given. */
export function hintOf(given: unknown, known: readonly string[]): string {
  const meant = typeof given === 'string' ? closest(given, known) : undefined
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/**
 * The known name that a misspelt one probably means: at most two letters or a quarter of them
 * differ, or its words are some of the known name's words. Undefined if no name is that close.
 */
export function closest(given: string, known: readonly string[]): string | undefined {
  const folded = fold(given.slice(0, NAME_LENGTH_MAX))
  const isLikely = (name: string) => name[0] === folded[0]
  const ranked = known
    .map((name) => ({ name, of: fold(name) }))
    .filter(({ of }) => Math.abs(of.length - folded.length) <= differingMax(of))
    .map(({ name, of }) => ({ name, of, differing: distance(folded, of) }))
    .filter(({ of, differing }) => differing <= differingMax(of))
    // `DSC` is as far from ASC as from DESC.
    .toSorted(
      (a, b) => a.differing - b.differing || Number(isLikely(b.of)) - Number(isLikely(a.of)),
    )
  return ranked[0]?.name ?? known.find((name) => sharesWords(given, name))
}

/** Longer than any name that is known. A record may have names of any length. */
const NAME_LENGTH_MAX = 200

/** Case, `_` and `-` are what programs and people change first. */
const fold = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Of a word of three letters, two would make it another word. */
const differingMax = ({ length }: string): number => Math.min(Math.max(2, length / 4), length / 2)

/** `BURSAR_PROXIES` and `BURSAR_TRUSTED_PROXIES`. One word alone is no hint. */
function sharesWords(given: string, known: string): boolean {
  const [words, others] = [given.slice(0, NAME_LENGTH_MAX).split('_'), known.split('_')]
  return words.length > 1 && words.every((word) => others.includes(word))
}
