/** What `JSON.parse` does not tell: where a text stops being JSON, and which members repeat. */
export type JsonScan =
  | { readonly fault: JsonFault }
  /** The dotted paths of members that their object names twice, the first of them only. */
  | { readonly repeated: readonly string[] }

export type JsonFault = {
  /** Both count from 1. */
  readonly line: number
  readonly column: number
  /** A sentence about what is expected there. It repeats nothing of the text. */
  readonly reason: string
}

const REPEATED_MAX = 10

/** Scans a text without recursion, so that no depth overflows the stack. */
export function scanJson(text: string): JsonScan {
  const open: Frame[] = []
  const repeated: string[] = []
  let expected: Expected = 'value'
  let at = skipBlanks(text, 0)
  for (; at < text.length; at = skipBlanks(text, at)) {
    const character = text.charAt(at)
    const frame = open.at(-1)
    if (character === closing(frame) && isClosable(expected)) {
      open.pop()
      expected = open.length === 0 ? 'end' : 'comma'
      at += 1
    } else if (isValue(expected) && (character === '{' || character === '[')) {
      open.push(character === '{' ? { names: new Set(), name: '' } : { index: 0 })
      expected = character === '{' ? 'first name' : 'first value'
      at += 1
    } else if (isValue(expected)) {
      const end = endOf(character === '"' ? string : literal, text, at)
      if (end < 0) return faultAt(text, at, expected, character)
      expected = open.length === 0 ? 'end' : 'comma'
      at = end
    } else if (isName(expected) && character === '"' && frame !== undefined && 'names' in frame) {
      const end = endOf(string, text, at)
      if (end < 0) return faultAt(text, at, expected, character)
      // Escapes are decoded, since "amo\u0075nt" is the member amount.
      frame.name = String(JSON.parse(text.slice(at, end)))
      if (frame.names.has(frame.name) && repeated.length < REPEATED_MAX) repeated.push(pathOf(open))
      frame.names.add(frame.name)
      expected = 'colon'
      at = end
    } else if (expected === 'colon' && character === ':') {
      expected = 'value'
      at += 1
    } else if (expected === 'comma' && character === ',') {
      if (frame !== undefined && 'index' in frame) frame.index += 1
      expected = frame !== undefined && 'index' in frame ? 'value' : 'name'
      at += 1
    } else return faultAt(text, at, expected, character)
  }
  return expected === 'end' ? { repeated: [...new Set(repeated)] } : faultAt(text, at, expected, '')
}

/** At least as many as the text has members: a name ends in a quote and a colon. */
export function membersAtMost(text: string): number {
  let names = 0
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) {
    let before = at - 1
    while (isJsonBlank(text.charCodeAt(before))) before -= 1
    if (text.charCodeAt(before) === QUOTE) names += 1
  }
  return names
}

/**
 * The dotted paths of members that an object of a parsed text names twice. A text that has at most
 * as many members as its value repeats none. Nearly every text is one of these, and only the others
 * are scanned.
 */
export function repeatedMembers(text: string, value: unknown): readonly string[] {
  if (membersAtMost(text) === countNames(value, 0)) return []
  const scan = scanJson(text)
  return 'repeated' in scan ? scan.repeated : []
}

/** Not a count for a value that is nested too deeply for recursion. */
function countNames(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth > DEPTH_MAX) return Number.NaN
  let names = 0
  if (Array.isArray(value)) {
    for (const child of value) names += countNames(child, depth + 1)
    return names
  }
  for (const name in value) {
    names += 1 + countNames((value as Readonly<Record<string, unknown>>)[name], depth + 1)
  }
  return names
}

const DEPTH_MAX = 20
const QUOTE = 0x22

type Frame = { readonly names: Set<string>; name: string } | { index: number }

type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end'

const isValue = (expected: Expected): boolean => expected === 'value' || expected === 'first value'
const isName = (expected: Expected): boolean => expected === 'name' || expected === 'first name'
const isClosable = (expected: Expected): boolean =>
  expected === 'comma' || expected === 'first name' || expected === 'first value'

const closing = (frame: Frame | undefined): string | undefined =>
  frame === undefined ? undefined : 'names' in frame ? '}' : ']'

const pathOf = (open: readonly Frame[]): string =>
  open.map((frame) => ('names' in frame ? frame.name : frame.index)).join('.')

// RFC 8259, sections 3, 6 and 7. The class is every character but controls, quote and backslash.
const string = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y
const literal = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y

function endOf(token: RegExp, text: string, at: number): number {
  token.lastIndex = at
  return token.test(text) ? token.lastIndex : -1
}

/** Whether a character is one of those that may stand between the tokens of JSON. */
export const isJsonBlank = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

function skipBlanks(text: string, from: number): number {
  let at = from
  while (isJsonBlank(text.charCodeAt(at))) at += 1
  return at
}

const reasons: Readonly<Record<Expected, string>> = {
  value: 'a value is expected',
  'first value': 'a value or ] is expected',
  name: 'a member name in double quotes is expected',
  'first name': 'a member name in double quotes or } is expected',
  colon: 'a colon is expected',
  comma: 'a comma or the closing bracket is expected',
  end: 'nothing more is expected',
}

function faultAt(text: string, at: number, expected: Expected, character: string): JsonScan {
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  const isText = character === '"' && (isValue(expected) || isName(expected))
  return {
    fault: {
      line: before.split('\n').length,
      column: [...before.slice(lineStart)].length + 1,
      reason: isText ? 'a text has no end, a line break or a wrong escape' : reasons[expected],
    },
  }
}
