import { useCallback, useEffect, useState } from 'react'
import { messageOf } from './api-problem.ts'
import { type Settings, settings } from './page-settings.ts'
import { ErrorBoundary } from './parts/frame/error-boundary.tsx'
import { Shell } from './parts/frame/shell.tsx'
import { useCopyKey, useFindKey } from './parts/frame/shortcuts.ts'
import { BareScreen, Loading } from './parts/states.tsx'
import { useRoute } from './router.ts'
import { Find } from './screens/find-screen.tsx'
import { signInAsClient } from './session/client-sign-in.ts'
import { EndProvider, type Session, SessionProvider } from './session/console-session.ts'
import { useIdleEnd } from './session/idle.ts'
import { finishSignIn, noteSignOut } from './session/issuer-sign-in.ts'
import { SignIn } from './session/sign-in.tsx'

type Screens = typeof import('./screens/opened-screen.tsx')
type LoadedScreens = { readonly loaded: Screens } | { readonly error: unknown }

/** The first screen needs none of the others, so they are loaded when one is opened. */
const loadScreens = (): Promise<Screens> => import('./screens/opened-screen.tsx')
// A link to one of them loads it beside the sign-in.
if (/^#\/[^?]/.test(location.hash)) void loadScreens().catch(() => {})

const loadingScreen = (
  <BareScreen title="Bursar console">
    <Loading what="the screen" />
  </BareScreen>
)

/** The console: nobody has signed in, or somebody has and sees a screen. */
export function App() {
  const [session, setSession] = useState<Session>()
  const [notice, setNotice] = useState<string>()
  const [isResuming, setResuming] = useState(true)
  useEffect(() => {
    resumeSignIn(settings)
      .then(setSession, (error: unknown) => setNotice(messageOf(error)))
      .finally(() => setResuming(false))
  }, [])
  const end = useCallback(
    (reason: string) => {
      // Everything that was loaded goes with the session, since the screens are unmounted.
      session?.end()
      setSession(undefined)
      setNotice(reason)
      sessionStorage.clear()
    },
    [session],
  )
  const signOut = useCallback(
    (reason: string) => {
      end(reason)
      noteSignOut()
      location.replace('#/')
    },
    [end],
  )
  const endIdle = useCallback(
    () => signOut(`You were signed out after ${settings.idleMinutes} minutes without activity.`),
    [signOut],
  )
  useIdleEnd(settings.idleMinutes, session !== undefined, endIdle)
  if (session === undefined) {
    if (isResuming) return <main className="welcome">{loadingScreen}</main>
    return (
      <SignIn
        notice={notice}
        onSession={(opened, remembered) => {
          if (remembered !== undefined) sessionStorage.setItem('bursar.sandbox', remembered)
          setNotice(undefined)
          setSession(opened)
        }}
      />
    )
  }
  return (
    <SessionProvider value={session} key={session.key}>
      <EndProvider value={end}>
        <Shell onSignOut={() => signOut('You have signed out.')}>
          <ErrorBoundary>
            <Screen />
          </ErrorBoundary>
        </Shell>
      </EndProvider>
    </SessionProvider>
  )
}

/**
 * Goes on after a return from the issuer, or after a reload of a tab that had signed in to the
 * sandbox. Undefined if a person must sign in.
 */
async function resumeSignIn({ issuers, clients }: Settings): Promise<Session | undefined> {
  const returned = await finishSignIn(issuers)
  if (returned !== undefined) return returned
  const remembered = sessionStorage.getItem('bursar.sandbox')
  const client = clients.find(({ clientId }) => clientId === remembered)
  if (client === undefined) return undefined
  const { clientId: id, clientSecret: secret, name } = client
  return await signInAsClient({ id, secret, name })
}

function Screen() {
  const { path } = useRoute()
  useCopyKey()
  useFindKey()
  return path.length === 0 ? <Find /> : <Opened path={path} />
}

/** Any other screen. React's `Suspense` would hold it back for a third of a second. */
function Opened({ path }: { readonly path: readonly string[] }) {
  const [screens, setScreens] = useState<LoadedScreens>()
  useEffect(() => {
    loadScreens().then(
      (loaded) => setScreens({ loaded }),
      (error: unknown) => setScreens({ error }),
    )
  }, [])
  if (screens === undefined) return loadingScreen
  if ('error' in screens) throw screens.error
  return <screens.loaded.OpenedScreen path={path} />
}
