import type { Attention } from '../../api/read-attention.ts'
import type { Kind } from '../../kinds/kind.ts'
import { linkTo, placeOf, useRoute } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { countText, useAttention } from '../attention.tsx'
import { failedQuery, shortfallQuery } from '../list-queries.ts'
import { useViews } from './saved-views.tsx'

type Tab = {
  readonly name: string
  readonly query: Readonly<Record<string, string>>
  readonly count?: string
  readonly tone?: 'bad' | 'wait'
}

/** The questions that a list is opened for. Badges count what the server counts. */
function tabsOf({ name }: Kind, attention: Attention | undefined): readonly Tab[] {
  const matter = (key: 'pending_accounts' | 'rejected_accounts' | 'pending_quotes') => {
    const known = attention?.[key]
    return known === undefined || known.count === 0 ? {} : { count: countText(known) }
  }
  switch (name) {
    case 'statements': {
      // The asset that most statements are short in; the others are a choice of the chip.
      const [first] = (attention?.shortfalls ?? []).toSorted(
        (one, other) => other.statements - one.statements,
      )
      const count = first && { count: countText({ ...first, count: first.statements }) }
      return [
        {
          name: 'Paid too little',
          query: shortfallQuery(first?.asset ?? 'USDG'),
          tone: 'bad',
          ...count,
        },
        { name: 'Generated, not paid', query: { status: 'STATEMENT_STATUS_GENERATED' } },
      ]
    }
    case 'fiat-accounts':
      return [
        {
          name: 'Pending',
          query: { status: 'PENDING' },
          tone: 'wait',
          ...matter('pending_accounts'),
        },
        { name: 'Rejected', query: { status: 'REJECTED' }, ...matter('rejected_accounts') },
      ]
    case 'fiat-deposit-instructions':
      return [{ name: 'Deprecated', query: { status: 'DEPRECATED' } }]
    case 'issuer-quote-executions':
      return [
        {
          name: 'Failed since yesterday',
          query: failedQuery(attention?.failed_quotes.since),
          tone: 'bad',
        },
        {
          name: 'Pending',
          query: { status: 'PENDING', order: 'ASC' },
          tone: 'wait',
          ...matter('pending_quotes'),
        },
      ]
    default:
      return []
  }
}

/** Tabs above a list: all, the questions of the kind, and the views that the person has saved. */
export function ViewTabs({ kind }: { readonly kind: Kind }) {
  const session = useSession()
  const { path, query } = useRoute()
  const [attention] = useAttention()
  const [views] = useViews(kind)
  const known = attention.state === 'loaded' ? attention.value : undefined
  const tabs = session.isStaff ? tabsOf(kind, known) : []
  const saved = views.map((view) => ({
    name: view.name,
    query: Object.fromEntries(new URLSearchParams(view.query)),
  }))
  const all: readonly Tab[] = [{ name: 'All', query: {} }, ...tabs, ...saved]
  if (all.length === 1) return null
  return (
    <nav className="tabs" aria-label="Views">
      {all.map((tab) => (
        <a
          key={tab.name}
          href={linkTo(path, [...Object.entries(tab.query), ...placeOf(query)])}
          {...(isShown(tab, query) && { 'aria-current': 'page' as const })}
        >
          {tab.name}
          {tab.count !== undefined && (
            <span className={`count ${tab.tone ?? ''}`}>{tab.count}</span>
          )}
        </a>
      ))}
    </nav>
  )
}

/** A tab is that of the list if the filters are the same, whatever page, asset or second. */
function isShown(tab: Tab, query: URLSearchParams): boolean {
  const counted = (name: string) =>
    !['customer', 'as_of', 'page_cursor', 'limit', 'view', 'order', 'order_by', 'asset'].includes(
      name,
    )
  const [own, shown] = [Object.entries(tab.query), [...query]].map((entries) =>
    entries
      .filter(([name]) => counted(name))
      .map(([name, value]) => (name === 'created_at.gte' ? name : `${name}=${value}`))
      .sort()
      .join(),
  )
  return own === shown
}
