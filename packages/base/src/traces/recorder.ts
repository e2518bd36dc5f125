import type * as Api from '@opentelemetry/api'
import type { Span, SpanAttributes, SpanKind } from './span.ts'
import type { TraceContext } from './trace-context.ts'

export type Recorder = {
  /** Begins the span of a request. Without `span`, its trace is not recorded. */
  begin(caller: TraceContext | undefined): { readonly context: TraceContext; readonly span?: Span }
}

/** Spans of OpenTelemetry, made by hand. Their parents are passed, never taken from its context. */
export function openRecorder(api: typeof Api, tracer: Api.Tracer): Recorder {
  const { ROOT_CONTEXT, SpanStatusCode, trace } = api
  const kinds = {
    server: api.SpanKind.SERVER,
    internal: api.SpanKind.INTERNAL,
    client: api.SpanKind.CLIENT,
  } satisfies Record<SpanKind, Api.SpanKind>
  const spanOf = (own: Api.Span): Span => {
    const context = contextOf(own.spanContext())
    let hasEnded = false
    return {
      context,
      child: (name, kind = 'internal', attributes = {}) =>
        spanOf(
          tracer.startSpan(
            name,
            { kind: kinds[kind], attributes: { ...attributes } },
            trace.setSpan(ROOT_CONTEXT, own),
          ),
        ),
      rename: (name) => void own.updateName(name),
      set: (attributes) => void own.setAttributes({ ...attributes }),
      end: (failure) => {
        if (hasEnded) return
        hasEnded = true
        if (failure !== undefined) {
          const { attributes, isError } = describeFailure(failure)
          own.setAttributes({ ...attributes })
          if (isError) own.setStatus({ code: SpanStatusCode.ERROR })
        }
        own.end()
      },
      hasEnded: () => hasEnded,
    }
  }
  return {
    begin: (caller) => {
      const parent =
        caller === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, { ...foreignContext(caller), isRemote: true })
      const own = tracer.startSpan('request', { kind: kinds.server }, parent)
      return own.isRecording()
        ? { context: contextOf(own.spanContext()), span: spanOf(own) }
        : { context: contextOf(own.spanContext()) }
    },
  }
}

const contextOf = ({ traceId, spanId, traceFlags }: Api.SpanContext): TraceContext => ({
  traceId,
  spanId,
  isSampled: (traceFlags & 1) === 1,
})

const foreignContext = ({ traceId, spanId, isSampled }: TraceContext): Api.SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? 1 : 0,
})

/**
 * What a span says about a failure: a code of the system or of the database, or the name of its
 * class. Its message may quote a value. A mistake of the caller is no error of the step.
 */
function describeFailure(failure: unknown): {
  readonly attributes: SpanAttributes
  readonly isError: boolean
} {
  const { status, slug, code } = Object(failure)
  const attributes = typeof slug === 'string' ? { 'bursar.problem': slug } : {}
  if (typeof status === 'number' && status < 500) return { attributes, isError: false }
  const name = failure instanceof Error ? failure.name : typeof failure
  const type = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : name
  return { attributes: { ...attributes, 'error.type': type }, isError: true }
}
