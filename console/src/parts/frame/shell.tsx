import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { keepScroll, linkTo, placeOf, useRoute } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { store, useHasNames, useIsUtc, useTheme } from '../../values/preferences.ts'
import { AsOfControl } from './as-of-control.tsx'
import { CustomerSwitch } from './customer-switch.tsx'
import { Navigation, TabBar } from './navigation.tsx'
import { Palette } from './palette.tsx'
import { isAt, screensOf } from './screens.ts'
import { SettingsDialog } from './settings-dialog.tsx'
import { useKeyList, useShortcuts } from './shortcuts.tsx'

type Props = { readonly children: ReactNode; readonly onSignOut: () => void }
type Sheet = 'palette' | 'settings' | 'more' | undefined

/** The frame of every screen: where to go, whose records, of what time. */
export function Shell({ children, onSignOut }: Props) {
  const [sheet, setSheet] = useState<Sheet>()
  const [keyList, showKeys] = useKeyList()
  const close = useCallback(() => setSheet(undefined), [])
  const openPalette = useCallback(() => setSheet('palette'), [])
  const openKeys = useCallback(() => showKeys(true), [showKeys])
  useShortcuts(openKeys, openPalette)
  useEffect(keepScroll, [])
  useLook()
  return (
    <div className="app">
      <button type="button" className="skip" onClick={skip}>
        Skip to content
      </button>
      <Navigation
        onPalette={openPalette}
        onSettings={() => setSheet('settings')}
        onSignOut={onSignOut}
      />
      <div className="content">
        <TopBar onPalette={openPalette} />
        <main className="page" id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <TabBar onMore={() => setSheet('more')} />
      <Palette isOpen={sheet === 'palette'} onClose={close} />
      <SettingsDialog
        isOpen={sheet === 'settings' || sheet === 'more'}
        hasScreens={sheet === 'more'}
        onClose={close}
        onSignOut={onSignOut}
      />
      {keyList}
    </div>
  )
}

/** A button, since a link to `#main` would leave the screen, which is in the fragment. */
const skip = (): void => document.getElementById('main')?.focus()

/** The theme and the names of the API are chosen once, and style sheets read them. */
function useLook(): void {
  const theme = useTheme()
  const hasNames = useHasNames()
  useEffect(() => {
    const { dataset } = document.documentElement
    if (theme === 'system') delete dataset.theme
    else dataset.theme = theme
    dataset.names = hasNames ? 'on' : 'off'
  }, [theme, hasNames])
}

function TopBar({ onPalette }: { readonly onPalette: () => void }) {
  const session = useSession()
  const { path, query } = useRoute()
  const isUtc = useIsUtc()
  const screen = screensOf(session).find((each) => isAt(each, path))
  return (
    <header className="bar">
      <CustomerSwitch />
      {screen !== undefined && (
        <a className="crumb" href={linkTo(screen.to, placeOf(query))}>
          {screen.title}
        </a>
      )}
      <span className="grow" />
      <Button className="button plain narrow-only tap" aria-label="Search" onClick={onPalette}>
        <Icon name="search" />
      </Button>
      {session.isStaff && <AsOfControl />}
      <Button
        className="button plain zone"
        data-key="u"
        onClick={() => store('zone', isUtc ? 'local' : 'utc')}
        aria-label={`Times are ${isUtc ? 'in UTC' : 'local'}; change`}
      >
        {isUtc ? 'UTC' : 'Local'}
      </Button>
    </header>
  )
}
