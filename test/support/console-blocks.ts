import { readFileSync } from 'node:fs'

/** One command of a `console` block and its documented output. */
export type ConsoleStep = { readonly command: string; readonly expected: string }

/** The commands of every `console` block of a Markdown file, in order. */
export function consoleSteps(path: string): ConsoleStep[] {
  const blocks = [...readFileSync(path, 'utf8').matchAll(/^```console\n(.*?)^```$/gms)]
  return blocks.flatMap(([, block = '']) => {
    const steps: { command: string; expected: string }[] = []
    for (const line of block.split('\n')) {
      const last = steps.at(-1)
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), expected: '' })
      else if (last !== undefined) last.expected += `${line}\n`
    }
    return steps.map((step) => ({ ...step, expected: step.expected.trimEnd() }))
  })
}

/** Values that differ between runs: request ids, cursors, generated ids and secrets. */
const changing = [
  /("request_id":")[^"]+/g,
  /("next_page_cursor":")[^"]+/g,
  /("id":"01)[^"]+/g,
  /("expires_at":")[^"]+/g,
  /("client_id":"client_)[^"]+/g,
  /("client_secret":"bursar_secret_)[^"]+/g,
]

export const withoutChanging = (text: string): string =>
  changing.reduce((kept, pattern) => kept.replaceAll(pattern, '$1…'), text)
