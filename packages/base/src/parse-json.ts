import { attempt } from './values/attempt.ts'
import { printable } from './values/printable.ts'

/** Undefined if the text is not JSON. */
export const parseJson = (text: string): unknown => attempt(() => JSON.parse(text))

/** The parser's reason without the text that it quotes, which may hold a secret. */
export const jsonFault = (error: unknown): string =>
  printable((error as Error).message.replace(/, ?(\.{3})?".*$/s, ''))
