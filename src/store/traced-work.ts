import { apart, currentSpan, during, inSpan, type Span, within } from '../platform/traces/span.ts'

type Engine = 'postgresql' | 'sqlite'

/** Runs a statement as a step of what runs now. The span has its first words, never a value. */
export function inStatement<T>(engine: Engine, text: string, work: () => T): T {
  // Before the summary, which takes time.
  if (currentSpan() === undefined) return work()
  const summary = summaryOf(text)
  const { operation } = summary
  return inSpan(summary.text, work, 'client', {
    'db.system.name': engine,
    'db.operation.name': operation,
    'db.query.summary': summary.text,
  })
}

/** The same for a statement that runs later, in another turn of the event loop. */
export function laterStatement<T>(engine: Engine, text: string, work: () => T): () => T {
  const span = currentSpan()
  return span === undefined ? work : () => within(span, () => inStatement(engine, text, work))
}

/**
 * Runs a batch. Its span is a step of the request that has waited longest, and is linked with the
 * others in both directions: each trace leads to the statement that has served it.
 */
export function inBatchSpan<T>(
  name: string,
  batch: readonly { readonly span?: Span | undefined }[],
  work: () => T,
): T {
  const spans = batch.flatMap(({ span }) => (span?.hasEnded() === false ? [span] : []))
  const [first, ...others] = spans
  // What runs now may be a step of another request.
  if (first === undefined) return apart(work)
  const size = { 'db.operation.batch.size': batch.length }
  const span = first.child(`batch of ${name}`, 'internal', size)
  for (const other of others) {
    span.link(other)
    other.link(span)
  }
  return during(span, work)
}

/**
 * What a statement does and to which table, such as `INSERT fee_quote`, for people who read a
 * trace: nothing is decided by it. Texts are those of the program, and their values are parameters.
 */
function summaryOf(text: string): { readonly operation: string; readonly text: string } {
  const [, first = 'other'] = /^\s*([a-z]+)/i.exec(text) ?? []
  const word = first.toLowerCase() === 'with' ? (written.exec(text)?.[1] ?? 'select') : first
  const operation = word.toUpperCase()
  const table = withTable.has(operation) ? tableIn(text) : undefined
  return { operation, text: table === undefined ? operation : `${operation} ${table}` }
}

/** Most statements of a customer look up its number first, which says nothing about them. */
function tableIn(text: string): string | undefined {
  const named = text.includes('bursar') ? inSchema : plain
  const tables = Array.from(text.matchAll(named), ([, table]) => table)
  return tables.find((table) => table !== 'customer') ?? tables[0]
}

const withTable = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
const written = /\b(insert(?= into)|(?<!for )update|delete(?= from))\b/i
const inSchema = /\b(?:from|into|update|join)\s+bursar\w*\.([a-z_]+)/gi
/** SQLite has no schemas. Neither a function nor a subquery. */
const plain = /\b(?:from|into|update|join)\s+(?!json_each\b|lateral\b)([a-z_]+)/gi
