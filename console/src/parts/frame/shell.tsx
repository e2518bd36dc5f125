import type { ReactNode } from 'react'
import { Button } from 'react-aria-components'
import { kinds } from '../../kinds/kinds.ts'
import { linkTo, placeOf, useRoute } from '../../router.ts'
import { mayRead, useSession } from '../../session/console-session.ts'
import { store, useIsUtc } from '../../values/preferences.ts'
import { AsOfControl } from './as-of-control.tsx'
import { CustomerSwitch } from './customer-switch.tsx'

/** The frame of every screen: where to go, whose records, of what time. */
export function Shell(props: { readonly children: ReactNode; readonly onSignOut: () => void }) {
  const session = useSession()
  const isUtc = useIsUtc()
  return (
    <div className="shell">
      <header className="top">
        <a className="brand" href="#/">
          Bursar
        </a>
        <CustomerSwitch />
        {session.isStaff && <AsOfControl />}
        <span className="spacer" />
        <Button
          onPress={() => store('zone', isUtc ? 'local' : 'utc')}
          aria-label={`Times are ${isUtc ? 'in UTC' : 'local'}; change`}
        >
          {isUtc ? 'UTC' : 'Local time'}
        </Button>
        <span className="who">{session.name}</span>
        <Button onPress={props.onSignOut}>Sign out</Button>
      </header>
      <Navigation />
      <main id="main">{props.children}</main>
    </div>
  )
}

function Navigation() {
  const session = useSession()
  const { path, query } = useRoute()
  const entries = [
    { title: 'Find', to: [] },
    ...kinds
      .filter(({ scope }) => mayRead(session, scope))
      .map(({ title, name }) => ({ title, to: ['list', name] })),
    { title: 'Fees', to: ['fees'] },
    ...(session.scopes.has('ingest:read_health') ? [{ title: 'Health', to: ['health'] }] : []),
  ]
  return (
    <nav aria-label="Screens">
      {entries.map(({ title, to }) => (
        <a
          key={title}
          href={linkTo(to, placeOf(query))}
          {...(to.join() === path.slice(0, 2).join() && { 'aria-current': 'page' as const })}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}
