import { readFileSync, writeFileSync } from 'node:fs'
import { consoleSteps } from './console-blocks.ts'

/**
 * Draws the README's picture from the README's own first commands and answers.
 * `--write` replaces the file.
 */
const COLUMNS = 100
const LINE_HEIGHT = 19
const PICTURE = 'docs/first-session.svg'

export function drawFirstSession(): string {
  const [token, accounts, , , , limit] = consoleSteps('README.md')
  const lines = [
    '$ npm ci && npm start',
    ...banner,
    ...[token, accounts, limit].flatMap((step) =>
      step === undefined ? [] : ['', ...wrapped(`$ ${step.command}`), ...wrapped(step.expected)],
    ),
  ]
  const height = lines.length * LINE_HEIGHT + 32
  const rows = lines.map(
    (line, at) =>
      `<text x="16" y="${at * LINE_HEIGHT + 32}"${line.startsWith('$') ? ' class="command"' : ''}>${asXml(line)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 ${height}" role="img" aria-label="A terminal: npm start, a token, a page of two accounts, and a wrong call with its answer">
<style>rect{fill:#11161d}text{font:13.5px ui-monospace,Menlo,Consolas,monospace;fill:#c9d4e0;white-space:pre}.command{fill:#8fd0ff}</style>
<rect width="860" height="${height}" rx="8"/>
${rows.join('\n')}
</svg>
`
}

const banner = [
  'Bursar sandbox, ready. Sample data, thrown away at the end.',
  '',
  '  API            http://127.0.0.1:8080/v2',
  '  token          http://127.0.0.1:8080/oauth2/token',
  '  API page       http://127.0.0.1:8080/docs',
  '  client_id      acme_sandbox',
  '  client_secret  bursar_sandbox_secret_of_acme',
]

/** Cuts an answer after six lines. */
function wrapped(text: string): string[] {
  if (text === '') return []
  const lines = text.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? []
  return lines.length <= 6 ? lines : [...lines.slice(0, 6), '…']
}

const asXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

if (process.argv.includes('--write')) writeFileSync(PICTURE, drawFirstSession())

export const drawnFirstSession = (): string => readFileSync(PICTURE, 'utf8')
