import { hash } from 'node:crypto'
import {
  type ProblemGuide,
  type ProblemSlug,
  problem,
  problemTypes,
  type Route,
  reasonOf,
  statusGuides,
} from '@bursar/contract'
import { recordedProblems } from './openapi-examples.ts'
import { staticDocument } from './static-document.ts'

/** The readable page behind each problem `type` and each status, and the index of all. */
export function problemPages(): Route[] {
  return [
    page('/problems', 'Problems', indexBody),
    page('/problems/', 'Problems', indexBody),
    ...[...typed, ...untyped].map((entry) =>
      page(`/problems/${entry.name}`, titleOf(entry), () => entryBody(entry)),
    ),
    {
      method: 'GET',
      path: '/problems/:slug',
      operation: 'problemPage',
      answer: () => {
        throw problem('notFound', 'there is no problem of this name; /problems lists them all')
      },
    },
  ]
}

/** The name is the slug of a type, or the status of problems without one. */
type Entry = { readonly name: string; readonly guide: ProblemGuide }

const typed: readonly Entry[] = Object.entries(problemTypes).map(([name, guide]) => ({
  name,
  guide,
}))
const untyped: readonly Entry[] = statusGuides.map((guide) => ({
  name: String(guide.status),
  guide,
}))

const isSlug = (name: string): name is ProblemSlug => Object.hasOwn(problemTypes, name)

const titleOf = ({ name, guide }: Entry): string =>
  isSlug(name) ? name : `${name} ${reasonOf(guide.status)}`

const indexBody = (): string =>
  `<p>Every error is <code>application/problem+json</code> (RFC 9457). <code>detail</code> says what to change.</p>
<h2>With a type of its own</h2>
${tableOf(typed)}
<h2>With the type <code>about:blank</code></h2>
${tableOf(untyped)}`

function tableOf(entries: readonly Entry[]): string {
  const rows = entries.map(
    ({ name, guide }) =>
      `<tr><td><a href="/problems/${name}">${name}</a></td><td>${guide.status}</td><td>${asHtml(guide.meaning)}</td></tr>`,
  )
  const head = '<tr><th>problem</th><th>status</th><th>meaning</th></tr>'
  return `<table>\n${[head, ...rows].join('\n')}\n</table>`
}

function entryBody(entry: Entry): string {
  const { status, meaning, remedy } = entry.guide
  const example = exampleOf(entry)
  return [
    `<p>Status ${status}. ${asHtml(meaning)}</p>`,
    `<p><strong>What to do:</strong> ${asHtml(remedy)}</p>`,
    ...(example === undefined
      ? []
      : ['<h2>Example</h2>', `<pre tabindex="0"><code>${escapeHtml(example)}</code></pre>`]),
    '<p><a href="/problems">All problems</a></p>',
  ].join('\n')
}

/** The first recorded answer with the problem. */
function exampleOf({ name, guide }: Entry): string | undefined {
  const type = isSlug(name) ? `/problems/${name}` : 'about:blank'
  const recorded = recordedProblems(guide.status)
  const found = recorded.find((value) => value.type === type)
  return found && JSON.stringify(found, null, 2)
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const asHtml = (text: string): string =>
  escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const style = [
  ':root{color-scheme:light dark}',
  'body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}',
  'code,pre{background:light-dark(#eee,#333)}code{padding:0 .2em}pre{padding:.5rem;overflow-x:auto}',
  'table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0}',
].join('')

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function page(path: string, title: string, body: () => string): Route {
  return staticDocument({
    path,
    operation: 'problemPage',
    contentType: 'text/html; charset=utf-8',
    cacheControl: 'public, max-age=3600',
    headers: { 'content-security-policy': policy },
    body: () => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Bursar</title>
<style>${style}</style>
<main>
<h1>${title}</h1>
${body()}
</main>
</html>
`,
  })
}
