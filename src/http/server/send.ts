import type { FastifyReply } from 'fastify'
import type { Answer, Trace } from '../../contract/request.ts'

export function send(reply: FastifyReply, answer: Answer): FastifyReply {
  writeHead(reply, answer)
  if (answer.sent !== undefined) reply.raw.once('finish', answer.sent)
  // Without a serializer Fastify would add a charset to the content type, which JSON does not
  // define.
  return reply.serializer(identity).send(answer.body)
}

/** Closes the connection instead of an answer, or in the middle of its body. */
export function breakOff(reply: FastifyReply, answer: Answer, fault: 'cut' | 'truncated'): void {
  writeHead(reply, answer)
  const headers = Object.entries(reply.getHeaders())
  const { raw, request } = reply.hijack()
  const body = Buffer.from(answer.body ?? '')
  if (fault === 'cut' || body.length === 0 || request.method === 'HEAD') raw.destroy()
  else {
    for (const [name, value] of headers) if (value !== undefined) raw.setHeader(name, value)
    raw.writeHead(answer.status, { 'content-length': body.length })
    raw.write(body.subarray(0, Math.floor(body.length / 2)), () => raw.destroy())
  }
  answer.sent?.()
}

function writeHead(reply: FastifyReply, answer: Answer): void {
  // Without a body, as in a 304, there is no content type.
  if (answer.body !== undefined) reply.header('content-type', 'application/json')
  reply
    .code(answer.status)
    .headers(reply.request.trace.limitHeaders ?? {})
    .headers(ignoredHeader(reply.request.trace))
    .headers(answer.headers)
}

const ignoredHeader = ({ ignoredParameters }: Trace): Record<string, string> =>
  ignoredParameters === undefined ? {} : { 'x-ignored-parameters': ignoredParameters.join(', ') }

const identity = (body: string): string => body
