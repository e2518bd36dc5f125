import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { until } from './until.ts'

/** A span as it arrived, with hexadecimal ids. */
export type ReceivedSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly startedAt: bigint
  readonly endedAt: bigint
  readonly attributes: Readonly<Record<string, string | number>>
  /** 0 unset, 2 error. */
  readonly status: number
  readonly statusMessage: string
  readonly events: number
}

type Manner = 'takes' | 'refuses' | 'hangs'

/**
 * A receiver of OTLP over HTTP with protobuf. Debian has no collector, so it reads the messages by
 * the field numbers of opentelemetry-proto 1.x, and shares no code with the exporter.
 */
export async function openOtlpReceiver() {
  const spans: ReceivedSpan[] = []
  const resources: Readonly<Record<string, string | number>>[] = []
  const requests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = []
  let received = ''
  let manner: Manner = 'takes'
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', () => {
      requests.push({ url: request.url ?? '', headers: request.headers })
      if (manner === 'hangs') return
      if (manner === 'refuses') return void response.writeHead(400, 'CANARY_STATUS').end()
      const sent = Buffer.concat(pieces)
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
      received += body.toString('latin1')
      for (const { resource, spans: read } of readExport(body)) {
        resources.push(resource)
        spans.push(...read)
      }
      take(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    resources,
    requests,
    /** All bytes of all exports. */
    received: () => received,
    behave: (as: Manner) => {
      manner = as
    },
    /** The spans of a trace, once its request has arrived. */
    traceOf: async (traceId: string): Promise<readonly ReceivedSpan[]> => {
      const ofTrace = () => spans.filter((span) => span.traceId === traceId)
      await until(() => ofTrace().some(({ kind }) => kind === 2))
      return ofTrace()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type OtlpReceiver = Awaited<ReturnType<typeof openOtlpReceiver>>

const take = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()

type Field = { readonly number: number; readonly value: bigint | Buffer }

/** The fields of a message, in their order (protobuf encoding, wire types 0, 1, 2 and 5). */
function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = Number(varint())
    const number = tag >> 3
    if ((tag & 7) === 0) fields.push({ number, value: varint() })
    else if ((tag & 7) === 1) {
      fields.push({ number, value: message.readBigUInt64LE(at) })
      at += 8
    } else if ((tag & 7) === 5) {
      fields.push({ number, value: BigInt(message.readUInt32LE(at)) })
      at += 4
    } else if ((tag & 7) === 2) {
      const length = Number(varint())
      if (at + length > message.length) throw new Error('a field is longer than its message')
      fields.push({ number, value: message.subarray(at, at + length) })
      at += length
    } else throw new Error(`wire type ${tag & 7} is not one of opentelemetry-proto`)
  }
  return fields
}

const messages = (fields: readonly Field[], wanted: number): readonly Buffer[] =>
  fields.flatMap(({ number, value }) =>
    number === wanted && Buffer.isBuffer(value) ? [value] : [],
  )
const first = (fields: readonly Field[], wanted: number): Buffer =>
  messages(fields, wanted)[0] ?? Buffer.alloc(0)
const whole = (fields: readonly Field[], wanted: number): bigint => {
  const value = fields.find(({ number }) => number === wanted)?.value
  return typeof value === 'bigint' ? value : 0n
}

function attributesOf(pairs: readonly Buffer[]): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const fields = fieldsOf(pair)
      const [value] = fieldsOf(first(fields, 2))
      if (value?.number === 1 && Buffer.isBuffer(value.value)) {
        return [String(first(fields, 1)), String(value.value)]
      }
      if (value?.number === 3) return [String(first(fields, 1)), Number(value.value)]
      throw new Error(`${first(fields, 1)} is neither a text nor a whole number`)
    }),
  )
}

function spanOf(message: Buffer): ReceivedSpan {
  const fields = fieldsOf(message)
  const status = fieldsOf(first(fields, 15))
  return {
    traceId: first(fields, 1).toString('hex'),
    spanId: first(fields, 2).toString('hex'),
    parentSpanId: first(fields, 4).toString('hex'),
    name: String(first(fields, 5)),
    kind: Number(whole(fields, 6)),
    startedAt: whole(fields, 7),
    endedAt: whole(fields, 8),
    attributes: attributesOf(messages(fields, 9)),
    events: messages(fields, 11).length,
    status: Number(whole(status, 3)),
    statusMessage: String(first(status, 2)),
  }
}

/** ExportTraceServiceRequest, ResourceSpans, ScopeSpans. */
const readExport = (body: Buffer) =>
  messages(fieldsOf(body), 1).map((ofResource) => {
    const fields = fieldsOf(ofResource)
    return {
      resource: attributesOf(messages(fieldsOf(first(fields, 1)), 1)),
      spans: messages(fields, 2).flatMap((scope) => messages(fieldsOf(scope), 2).map(spanOf)),
    }
  })
