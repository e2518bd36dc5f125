/**
 * What programs do to identifiers that they take for numbers, or that somebody copied from a page.
 * Each rule returns the rest of a sentence that starts with the name of a member.
 */

/** A float of a spreadsheet or a program, as `5.73001E+09`. A whole number needs the sign. */
const exponent = /^[+-]?(?:\d+[.,]\d*[eE][+-]?|\d+[eE][+-])\d{1,3}$/

/** A cell that was too narrow for its number, and the errors of formulas. */
const notShown =
  /^(?:#+|#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NULL!|NUM!|SPILL!|CALC!|FIELD!|BLOCKED!|BUSY!|CONNECT!|UNKNOWN!|GETTING_DATA|EXTERNAL!|PYTHON!)|Err:5\d\d)$/i

/** Nobody sees such a character, or it turns the others around. NUL has a fault of its own. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u

/** Why a text cannot be an identifier: what it was is certainly lost. Undefined for any other. */
export function damageOf(text: string): string | undefined {
  if (exponent.test(text)) {
    return 'is a number that was rounded, as spreadsheets do; give all of its digits'
  }
  if (notShown.test(text)) return 'is what a spreadsheet shows in place of a value; give the value'
  const [character] = unseen.exec(text) ?? []
  const isOther = character === undefined || character === '\0'
  return isOther ? undefined : `has the invisible character ${codeOf(character)}`
}

/** The code point of a character, as `U+200B`. */
export const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/**
 * Found within the JSON of few records, and of every record that has an oddity: blanks, escapes and
 * characters that few texts have, and the ends of numbers and dates.
 */
const maybeOdd =
  /" |\s"|\\[a-z]|[^\x20-\x7e]|"#|"Err:|\d[.,]?[eE][+-]?\d{1,3}"|\.0+"|\d{15}0"|"\d{1,2}-[a-zA-Z]{3}[-"]/i

/** Whether no text of a record in JSON has an oddity. */
export const isCertainlyEven = (json: string): boolean => !maybeOdd.test(json)

/** They belong in a free text: joiners of letters, as of Persian, and line ends. */
const usual = /[\u200c\u200d]|\r?\n/g
const blankAtEnd = /^\s|\s$/
const madeDate = /^\d{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:-\d{2,4})?$/i
/** A double holds fifteen digits. A spreadsheet shows zeros in place of the others. */
const afterFifteen = /^[1-9]\d{14}0+$/

/** What is odd about a text, which may still be right. Identifiers are judged more strictly. */
export function oddityOf(text: string, isIdentifier: boolean): string | undefined {
  if (blankAtEnd.test(text)) return 'begins or ends with a blank'
  if (!isIdentifier) return damageOf(text.replace(usual, ''))
  if (madeDate.test(text)) return 'may be a date that a spreadsheet has made of it'
  if (afterFifteen.test(text))
    return 'has only zeros after its fifteenth digit, as spreadsheets write'
  return /^\d+\.0+$/.test(text) ? 'ends with .0, as programs write numbers' : undefined
}
