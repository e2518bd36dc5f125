import type { FastifyInstance } from 'fastify'

/** Bodies are parsed by the operations, as JSON or as forms, whatever the Content-Type says. */
export function takeBodiesAsBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
  // The framework would answer 415 to a Content-Type that is none, before anybody could ignore it.
  server.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const type = headers['content-type']
    if (type !== undefined && !mediaType.test(type)) {
      headers['content-type'] = 'application/octet-stream'
    }
    done()
  })
}

/** RFC 9110 section 8.3.1, without its parameters. */
const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/
