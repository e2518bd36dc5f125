import { parseJson, printable } from '@bursar/base'
import { verifyLimits } from './verify-limits.ts'

const REMOVED = '[removed]'

/** Members that hold credentials, and members that name a person or a bank account. */
const credentials = /token$|secret|assertion|password/i
const numbers = /^(account_number|account_no|iban|wallet_address)$/i
const names = /^(first_name|last_name|name|address[12]|zip_code)$/i

/** A JWT, wherever it stands. */
const jwt = /ey[\w-]{8,}\.[\w-]+\.[\w-]*/g
/** A member of JSON that is text or a number. The text may lack its end. */
const pair = /"(\w+)"\s*:\s*(?:"((?:[^"\\]|\\.)*)(?:"|$)|(?<![\w"])(\d+))/g
/** Seven digits or more in a row, unless they belong to a UUID, an amount or a longer word. */
const digits = /(?<![\w.-])\d{7,}(?![\w.-])/g

/**
 * One line of a request or an answer for a report: without the given secrets, without tokens, with
 * account numbers masked but for four digits, and cut.
 */
export function redact(text: string, secrets: readonly string[]): string {
  return printable(removed(withoutMembers(text), secrets), verifyLimits.shownLengthMax)
}

function withoutMembers(text: string): string {
  const parsed = parseJson(text)
  // JSON that is cut short or faulty still names its members.
  if (parsed === undefined) return text.replace(pair, (_, name, value) => pairOf(name, value))
  try {
    return JSON.stringify(parsed, replaced)
  } catch {
    // Nested too deeply for the stack.
    return REMOVED
  }
}

const pairOf = (name: string, value: string): string =>
  `"${name}":${JSON.stringify(replaced(name, value))}`

/** The text without the secrets and tokens in it. */
function removed(text: string, secrets: readonly string[]): string {
  const without = secrets.reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text)
  return without.replace(jwt, REMOVED).replace(digits, masked)
}

function replaced(name: string, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value
  if (credentials.test(name)) return REMOVED
  if (names.test(name)) return REMOVED
  return numbers.test(name) ? masked(String(value)) : value
}

/**
 * List Fiat Accounts masks a number in this way: the end has no blanks, and four characters or
 * fewer are masked whole.
 */
export function masked(number: string): string {
  const characters = [...number.replaceAll(/\s/g, '')]
  const end = characters.length > 4 ? characters.slice(-4) : []
  return 'X'.repeat([...number].length - end.length) + end.join('')
}
