import type { Route } from '@bursar/contract'
import { customerApi, type DocumentedApi, openApiDocument } from './openapi.ts'
import { asOpenApi30 } from './openapi-3.0.ts'
import { staticDocument } from './static-document.ts'

const documentRoute = (path: string, document: () => object): Route =>
  staticDocument({
    path,
    operation: 'openapi',
    contentType: 'application/json',
    cacheControl: 'public, max-age=60',
    body: () => JSON.stringify(document()),
  })

/**
 * Serves the document of an API, for which no caller needs a token. It names the public URL, which
 * listening sets.
 */
export const openApiRoute = (api: DocumentedApi, publicUrl: () => string): Route =>
  documentRoute(api.path, () => openApiDocument(api, publicUrl()))

/** The customers' document in both versions. */
export const openApiRoutes = (publicUrl: () => string): Route[] => [
  openApiRoute(customerApi, publicUrl),
  documentRoute('/openapi-3.0.json', () => asOpenApi30(openApiDocument(customerApi, publicUrl()))),
]
