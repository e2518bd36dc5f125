import { printable } from '../values/printable.ts'

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The parser's reason without the text that it quotes, which may hold a secret. */
export const jsonFault = (error: unknown): string =>
  printable((error as Error).message.replace(/, ?(\.{3})?".*$/s, ''))
