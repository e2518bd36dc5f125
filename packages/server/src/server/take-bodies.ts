import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { serverLimits } from '../limits.ts'

/** Hands every body over as bytes: operations parse them, whatever the Content-Type says. */
export function takeBodiesAsBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
}

/**
 * Fastify parses a Content-Type of any length, and answers 415 to a malformed one before a route
 * could ignore it.
 */
export function boundContentType(headers: IncomingHttpHeaders): void {
  const type = headers['content-type']
  if (type === undefined) return
  if (type.length > serverLimits.contentTypeLengthMax || !mediaType.test(type)) {
    headers['content-type'] = 'application/octet-stream'
  }
}

/** Hands the body over as it arrives, in a scope of routes that take a stream. */
export function takeBodiesAsStreams(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload)
  })
}

/** RFC 9110 section 8.3.1, without its parameters. */
const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/

/** No route has a schema of the framework, so its compilers need not be loaded. */
export const withoutSchemas = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
}

function refuseSchema(): never {
  throw new Error('a route has a schema, which only the pipeline checks')
}
