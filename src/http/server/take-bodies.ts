import type { FastifyInstance } from 'fastify'

/** Hands every body over as bytes: operations parse them, whatever the Content-Type says. */
export function takeBodiesAsBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
  // Fastify answers 415 to a malformed Content-Type before a route could ignore it.
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
