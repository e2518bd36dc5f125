import type { Route } from '../../contract/request.ts'
import { operations } from '../../operations/index.ts'
import { ingestOperations } from '../../operations/ingest/index.ts'
import { sandboxOperations } from '../../operations/sandbox/index.ts'
import { version } from '../../platform/version.ts'
import { ingestApi, openApiDocument, sandboxApi } from './openapi.ts'
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

/** The document of the calls by which tests control a sandbox. */
export const sandboxOpenApiRoute = (publicUrl: () => string): Route =>
  documentRoute('/sandbox/openapi.json', () =>
    openApiDocument(sandboxOperations, version, publicUrl(), sandboxApi),
  )

/** The document of the operator's API, where that API is. Like the customers' it needs no token. */
export const ingestOpenApiRoute = (publicUrl: () => string): Route =>
  documentRoute('/ingest/v1/openapi.json', () =>
    openApiDocument(ingestOperations, version, publicUrl(), ingestApi),
  )

/** Serves the documents. They name the public URL, which listening sets. */
export function openApiRoutes(publicUrl: () => string): Route[] {
  return [
    documentRoute('/openapi.json', () => openApiDocument(operations, version, publicUrl())),
    documentRoute('/openapi-3.0.json', () =>
      asOpenApi30(openApiDocument(operations, version, publicUrl())),
    ),
  ]
}
