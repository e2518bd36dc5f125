/** Control and format characters, such as those that turn the direction of text, and line ends. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** A name or value that somebody else chose, for a message: on one line, cut, without controls. */
export function printable(text: string, lengthMax = 100): string {
  // A character has at most two units, so this cut bounds the work and loses nothing.
  const characters = [...text.slice(0, 2 * lengthMax + 2)]
  const shown = characters.slice(0, lengthMax).join('').replace(unprintable, escaped)
  return characters.length > lengthMax ? `${shown}…` : shown
}

/** Text that may have several lines, safe for a terminal. */
export const printableLines = (text: string): string =>
  text.replace(unprintable, (character) => (character === '\n' ? character : escaped(character)))

/** JSON with the same meaning that is safe for a terminal. `JSON.stringify` escapes U+0000-1F. */
export const printableJson = (json: string): string =>
  json.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? character : character.split('').map(jsonEscaped).join(''),
  )

const escaped = (character: string): string => `\\u{${hexOf(character.codePointAt(0))}}`

const jsonEscaped = (unit: string): string => `\\u${hexOf(unit.charCodeAt(0)).padStart(4, '0')}`

const hexOf = (code = 0): string => code.toString(16)
