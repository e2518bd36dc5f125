import { jsonAnswer, type Route } from '../../contract/request.ts'
import { operations } from '../../operations/index.ts'
import { ingestOperations } from '../../operations/ingest/index.ts'
import { version } from '../../platform/version.ts'
import { ingestApi, openApiDocument } from './openapi.ts'
import { asOpenApi30 } from './openapi-3.0.ts'

/** Serves the documents. Listening sets the public URL, so each request reads it. */
export function openApiRoutes(publicUrl: () => string): Route[] {
  const route = (path: string, document: () => object): Route => ({
    method: 'GET',
    path,
    operation: 'openapi',
    answer: () => jsonAnswer(document(), { 'cache-control': 'public, max-age=60' }),
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
