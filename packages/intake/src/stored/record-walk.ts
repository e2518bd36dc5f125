import { type Background, type Logger, limitsOf, startWalk } from '@bursar/base'
import { resources } from '@bursar/contract'
import type { Store } from '@bursar/records'
import { type ComparedPart, compareKind, compareOwners } from './compare-kind.ts'
import { describeAll, describeDamaged } from './describe-faults.ts'

const limits = limitsOf({
  /** Records of one step, in which no request is served: two milliseconds. */
  walkRows: 8,
  /** Differences that are logged. With more, `bursar reindex` is the answer. */
  walkReportedMax: 100,
})

type WalkDeps = {
  readonly damage: Store['damage']
  readonly log: Logger
  readonly background: Background
}

/**
 * Compares all records with what is derived from them, in the background. Logs each difference
 * once, and counts it until a round no longer finds it. Returns the function that ends this.
 */
export function startRecordWalk({ damage, log, background }: WalkDeps): () => void {
  const rows = damage.walkedRows
  const reading = { rowsMax: limits.walkRows }
  let told: ReadonlySet<string> = new Set()
  let found = new Set<string>()
  const report = (what: string) => {
    if (found.has(MORE)) return
    const line = found.size === limits.walkReportedMax ? MORE : what
    found.add(line)
    if (!told.has(line)) log.error({ what: line }, DIFFERS)
  }
  const { stop } = startWalk<ComparedPart>(background, 'compare-records', {
    parts: () => [
      ...resources.map((resource) => () => compareKind(resource, rows, reading)),
      () => compareOwners(rows, reading),
    ],
    take: ({ damaged, derived }) => {
      for (const { kind } of [...damaged, ...derived]) damage.noteFound(kind)
      for (const what of [...damaged.map(describeDamaged), ...describeAll(derived)]) report(what)
    },
    endRound: () => {
      damage.endWalk()
      told = found
      found = new Set()
    },
    failed: (err) => log.warn({ err }, 'stored records cannot be compared'),
  })
  return stop
}

const DIFFERS =
  'a stored record differs from what is derived from it, or is damaged; `bursar reindex` says which can be written again'
const MORE = 'more records than are logged'
