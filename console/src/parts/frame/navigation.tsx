import { settings } from '../../page-settings.ts'
import { linkTo, placeOf, useRoute } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Brand, Icon } from '../../values/icon.tsx'
import { useAttention } from '../attention.tsx'
import { badgeOf } from './badges.ts'
import { isAt, type Screen, screensOf } from './screens.ts'

type Props = {
  readonly onPalette: () => void
  readonly onSettings: () => void
  readonly onSignOut: () => void
}

/** Where to go, at the side of a wide window. A badge counts what waits, not what is there. */
export function Navigation({ onPalette, onSettings, onSignOut }: Props) {
  const session = useSession()
  const groups = Map.groupBy(screensOf(session), ({ group }) => group)
  return (
    <nav className="nav" aria-label="Screens">
      <a className="brand" href="#/">
        <Brand />
        Bursar
        {settings.clients.length > 0 && (
          <span className="env" title="This service answers with sample data">
            Sandbox
          </span>
        )}
      </a>
      <Button className="nav-find" onClick={onPalette}>
        <Icon name="search" />
        <span className="grow">Search or jump to</span>
        <kbd>Ctrl K</kbd>
      </Button>
      {[...groups].map(([group, screens]) => (
        <div key={group} className="nav-group">
          {group !== 'Start' && <h2>{group}</h2>}
          {screens.map((screen) => (
            <Entry key={screen.title} screen={screen} />
          ))}
        </div>
      ))}
      <div className="nav-foot">
        <span className="avatar" aria-hidden="true">
          {initialsOf(session.name)}
        </span>
        <div className="grow">
          <p className="strong who">{session.name}</p>
          <Button className="button plain small" onClick={onSignOut}>
            Sign out
          </Button>
        </div>
        <Button className="button plain small" aria-label="Settings" onClick={onSettings}>
          <Icon name="sliders" />
        </Button>
      </div>
    </nav>
  )
}

function Entry({ screen }: { readonly screen: Screen }) {
  const { path, query } = useRoute()
  const [attention] = useAttention()
  const known = attention.state === 'loaded' ? attention.value : undefined
  const badge = badgeOf(screen.to[1] ?? '', known)
  const keys = screen.key === '/' ? '/' : `G ${screen.key.toUpperCase()}`
  return (
    <a
      className="nav-item"
      href={linkTo(screen.to, placeOf(query))}
      title={`${screen.title} (keys: ${keys})`}
      data-go={screen.key}
      {...(isAt(screen, path) && { 'aria-current': 'page' as const })}
    >
      <Icon name={screen.icon} />
      {screen.title}
      {badge !== undefined && (
        <span className={`count ${badge.tone}`} title={badge.title}>
          {badge.text}
        </span>
      )}
    </a>
  )
}

const initialsOf = (name: string): string =>
  name
    .split(/[\s\-_.@]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('')

/** Where to go, at the foot of a phone: four screens, and all others behind the fifth. */
export function TabBar({ onMore }: { readonly onMore: () => void }) {
  const session = useSession()
  const { path, query } = useRoute()
  const all = screensOf(session)
  const main = ['Overview', 'Find', 'Statements', 'Fiat accounts']
  return (
    <nav className="tabbar" aria-label="Screens, narrow window">
      {all
        .filter(({ title }) => main.includes(title))
        .map((screen) => (
          <a
            key={screen.title}
            href={linkTo(screen.to, placeOf(query))}
            {...(isAt(screen, path) && { 'aria-current': 'page' as const })}
          >
            <Icon name={screen.icon} />
            {screen.short}
          </a>
        ))}
      <Button className="tab" onClick={onMore}>
        <Icon name="menu" />
        More
      </Button>
    </nav>
  )
}
