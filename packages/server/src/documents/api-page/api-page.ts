import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { Route } from '@bursar/contract'
import { htmlHeaders, jsonInPage, redirect } from '../html-page.ts'
import { type StaticDocument, staticDocument } from '../static-document.ts'

/** The client of the page, so that "Send" works at once. Only the sandbox shows one. */
export type PageClient = { readonly clientId: string; readonly clientSecret: string }

/**
 * The interactive page at `/docs/`: Scalar's bundle, our start script and our colours. The content
 * security policy lets it reach this service only and run no script but these.
 */
export function apiPage(client: PageClient | undefined): Route[] {
  const document = (name: string, given: Omit<StaticDocument, 'path' | 'operation' | 'headers'>) =>
    staticDocument({ path: `/docs/${name}`, operation: 'apiPage', headers, ...given })
  const file = (name: string, contentType: string) =>
    document(name, { contentType, cacheControl: revalidated, body: () => readFile(pathOf(name)) })
  return [
    redirect('/', 'docs/', 'apiPage'),
    redirect('/docs', 'docs/', 'apiPage'),
    document('', {
      contentType: 'text/html; charset=utf-8',
      cacheControl: revalidated,
      body: () => pageWith(client),
    }),
    file('start.js', script),
    file('accessibility.js', script),
    file('colours.css', 'text/css; charset=utf-8'),
    document(bundleName, {
      contentType: script,
      // The name holds the version, so the content never changes.
      cacheControl: 'public, max-age=31536000, immutable',
      body: async () => promisify(brotliDecompress)(await readFile(pathOf(bundleFile))),
      precompressed: { br: () => readFile(pathOf(bundleFile)) },
    }),
  ]
}

const bundleFile = 'scalar.js.br'
/** `tools/api-page-script.ts` replaces the file and checks that this names its version. */
const bundleName = 'scalar-1.72.1.js'

const pathOf = (name: string): URL => new URL(name, import.meta.url)
const script = 'text/javascript; charset=utf-8'
const revalidated = 'no-cache'

/** Scalar sets styles from its script, which `style-src 'self'` would refuse. */
const headers = htmlHeaders([
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
])

function pageWith(client: PageClient | undefined): string {
  const settings = {
    ...(client !== undefined && {
      client: { 'x-scalar-client-id': client.clientId, clientSecret: client.clientSecret },
    }),
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bursar API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="colours.css">
<script type="application/json" id="settings">${jsonInPage(settings)}</script>
</head>
<body>
<div id="api"></div>
<script src="${bundleName}"></script>
<script type="module" src="start.js"></script>
</body>
</html>
`
}
