import type { Route } from '../../contract/request.ts'
import { operations } from '../../operations/index.ts'
import { ingestOperations } from '../../operations/ingest/index.ts'
import { version } from '../../platform/version.ts'
import { ingestApi, openApiDocument } from './openapi.ts'
import { asOpenApi30 } from './openapi-3.0.ts'
import { staticDocument } from './static-document.ts'

/** Serves the documents. They name the public URL, which listening sets. */
export function openApiRoutes(publicUrl: () => string): Route[] {
  const route = (path: string, document: () => object): Route =>
    staticDocument({
      path,
      operation: 'openapi',
      contentType: 'application/json',
      cacheControl: 'public, max-age=60',
      body: () => JSON.stringify(document()),
    })
  return [
    route('/openapi.json', () => openApiDocument(operations, version, publicUrl())),
    route('/openapi-3.0.json', () =>
      asOpenApi30(openApiDocument(operations, version, publicUrl())),
    ),
    route('/ingest/openapi.json', () =>
      openApiDocument(ingestOperations, version, publicUrl(), ingestApi),
    ),
  ]
}
