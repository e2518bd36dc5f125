/** A name for the staff's screens: a customer as people call it. */
export type DisplayName = {
  readonly name: string
  /**
   * The name from the start of each of its words on, in lower case and without accents, each once:
   * what a search compares the start of.
   */
  readonly terms: readonly string[]
}

export const displayNameRule =
  'a display name is one line of 1 to 100 characters without control characters, with a letter or a digit'

const LENGTH_MAX = 100
/** The first words of a name are found by their start; no name of a company has more. */
const TERMS_MAX = 16

/** Also what shows as nothing at all. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const letterOrDigit = /[\p{L}\p{N}]/u
const wordStart = /(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}]/gu

/** Undefined for a text that breaks the rule. Blanks around the name and repeated ones go. */
export function parseDisplayName(text: string): DisplayName | undefined {
  // A character has at most two units, so a longer text is refused before it is matched.
  if (text.length > 4 * LENGTH_MAX || unprintable.test(text)) return undefined
  const name = text
    .normalize('NFC')
    .replaceAll(/\p{Zs}+/gu, ' ')
    .trim()
  if ([...name].length > LENGTH_MAX || !letterOrDigit.test(name)) return undefined
  const folded = foldText(name)
  const starts = [...folded.matchAll(wordStart)].map(({ index }) => folded.slice(index))
  return { name, terms: [...new Set(starts)].slice(0, TERMS_MAX) }
}

/**
 * Text as the terms of names have it, the same for either case of any language: only through the
 * upper case does the Turkish ı meet I, and ß meet SS. A sigma has another form at the end.
 */
export const foldText = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/\p{Zs}+/gu, ' ')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')

/** Text with ASCII letters in lower case, as both engines fold the ids of customers. */
export const foldAscii = (text: string): string =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Whether a customer is found by the start of its id or of a word of its name. */
export function matchesPrefix(
  { id, name }: { readonly id: string; readonly name: string | undefined },
  prefix: string,
): boolean {
  if (foldAscii(id).startsWith(foldAscii(prefix))) return true
  const terms = name === undefined ? [] : (parseDisplayName(name)?.terms ?? [])
  return terms.some((term) => term.startsWith(foldText(prefix)))
}
