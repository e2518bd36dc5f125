import { Problem, type ProblemGuide, problemTypes, statusGuides } from '../../contract/problem.ts'
import type { Answer, Route } from '../../contract/request.ts'

const guides: ReadonlyMap<string, ProblemGuide> = new Map(Object.entries(problemTypes))

/** The readable page behind each problem `type`, and an index of all types and statuses. */
export const problemPages: readonly Route[] = [
  {
    method: 'GET',
    path: '/problems/',
    operation: 'problemIndex',
    answer: () => page('Problems', indexBody()),
  },
  {
    method: 'GET',
    path: '/problems/:slug',
    operation: 'problemPage',
    answer: ({ parameters }) => {
      const slug = parameters.slug ?? ''
      const guide = guides.get(slug)
      if (guide === undefined) {
        throw new Problem(404, 'there is no problem of this name; /problems/ lists them all')
      }
      return page(slug, guideBody(guide))
    },
  },
]

function indexBody(): string {
  const named = [...guides].map(
    ([slug, guide]) => `<h2><a href="/problems/${slug}">${slug}</a></h2>${guideBody(guide)}`,
  )
  const plain = statusGuides.map((guide) => `<h2>${guide.status}</h2>${guideBody(guide)}`)
  return [
    '<p>Every error is <code>application/problem+json</code> (RFC 9457). <code>detail</code> says what to change.</p>',
    ...named,
    ...plain,
  ].join('\n')
}

const guideBody = ({ status, meaning, remedy }: ProblemGuide): string =>
  `<p>Status ${status}. ${asHtml(meaning)}</p><p><strong>What to do:</strong> ${asHtml(remedy)}</p>`

const asHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')

function page(title: string, body: string): Answer {
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    },
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Bursar</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}code{background:#eee;padding:0 .2em}</style>
<h1>${title}</h1>
${body}
</html>
`,
  }
}
