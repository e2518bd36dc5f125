import { AsyncLocalStorage } from 'node:async_hooks'
import type { TraceContext } from './trace-context.ts'

/**
 * Every attribute that a span may have; those without `bursar` are OpenTelemetry's. None of them
 * takes a text of a caller: no URL, no query, no header, no id of a customer, client or record.
 */
export type SpanAttributes = {
  readonly 'http.request.method'?: string
  /** The path as declared, such as `/v2/fiat-accounts/:id`. */
  readonly 'http.route'?: string
  readonly 'http.response.status_code'?: number
  /** A status, a code of the system or of the database, or the name of a class of errors. */
  readonly 'error.type'?: string
  readonly 'db.system.name'?: 'postgresql' | 'sqlite'
  /** Such as `SELECT`. */
  readonly 'db.operation.name'?: string
  /** Such as `SELECT fiat_account`. */
  readonly 'db.query.summary'?: string
  /** How many requests a statement or a commit serves. */
  readonly 'db.operation.batch.size'?: number
  /** The declared id of an operation. */
  readonly 'bursar.operation'?: string
  /** The type of a problem, such as `fee-expired`. */
  readonly 'bursar.problem'?: string
  /** How many records were read. */
  readonly 'bursar.rows'?: number
}

/** One step of work in a trace that is recorded. */
export type Span = {
  readonly context: TraceContext
  /** Begins a step within this one. */
  child(name: string, kind?: SpanKind, attributes?: SpanAttributes): Span
  rename(name: string): void
  set(attributes: SpanAttributes): void
  /** Ends it. A failure sets `error.type`, and nothing of its message. */
  end(failure?: unknown): void
  hasEnded(): boolean
}

/** A request that is served, work in the process, or a statement that a database runs. */
export type SpanKind = 'server' | 'internal' | 'client'

/**
 * The span of what runs now. It belongs to a request and not to the process, and follows it into
 * the store, so that no function on the way takes a span. While nothing is traced it is empty, and
 * reading it takes a few nanoseconds.
 */
const running = new AsyncLocalStorage<Span | undefined>()

/**
 * The span of what runs now. A timer that a request has started keeps its span, so one that has
 * ended counts no more.
 */
export function currentSpan(): Span | undefined {
  const span = running.getStore()
  return span === undefined || span.hasEnded() ? undefined : span
}

/** Runs work as a part of a span, if there is one. */
export const within = <T>(span: Span | undefined, work: () => T): T =>
  span === undefined ? work() : running.run(span, work)

/** Runs work that is no part of what runs now. */
export const apart = <T>(work: () => T): T =>
  currentSpan() === undefined ? work() : running.run(undefined, work)

/** Runs work as a step within a span, if there is one. */
export const step = <T>(parent: Span | undefined, name: string, work: () => T): T =>
  parent === undefined ? work() : during(parent.child(name), work)

/** Runs work as a step within the current span, if there is one. */
export function inSpan<T>(
  name: string,
  work: () => T,
  kind?: SpanKind,
  attributes?: SpanAttributes,
): T {
  const parent = currentSpan()
  return parent === undefined ? work() : during(parent.child(name, kind, attributes), work)
}

/** Runs work within a span, which ends with it. */
export function during<T>(span: Span, work: () => T): T {
  try {
    const result = running.run(span, work)
    if (result instanceof Promise) {
      result.then(
        () => span.end(),
        (error: unknown) => span.end(error),
      )
    } else span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}
