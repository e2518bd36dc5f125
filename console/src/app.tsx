import { startTransition, useCallback, useEffect, useState } from 'react'
import { messageOf } from './api-problem.ts'
import { type Settings, settings } from './page-settings.ts'
import { AttentionProvider } from './parts/attention.tsx'
import { CustomerNames } from './parts/customer-names.tsx'
import { loadDialogsEarly } from './parts/dialog/dialog.tsx'
import { ErrorBoundary } from './parts/frame/error-boundary.tsx'
import { Shell } from './parts/frame/shell.tsx'
import { Loading } from './parts/states.tsx'
import { useRoute } from './router.ts'
import { signInAsClient } from './session/client-sign-in.ts'
import {
  EndProvider,
  type Session,
  SessionProvider,
  useSession,
} from './session/console-session.ts'
import { useIdleEnd } from './session/idle.ts'
import { finishSignIn, isReturn, noteSignOut } from './session/issuer-sign-in.ts'
import { SignIn } from './session/sign-in.tsx'

type Screens = typeof import('./screens/opened-screen.tsx')
type LoadingScreens = { readonly loaded?: Screens | undefined; readonly error?: unknown }

/** Kept, so that a screen that follows is drawn with the frame and not after it. */
let screens: Screens | undefined
async function loadScreens(): Promise<Screens> {
  screens = await import('./screens/opened-screen.tsx')
  return screens
}
loadDialogsEarly()

/** Without a heading that takes the focus, which would need a layout of its own. */
const loadingScreen = (
  <section className="card" aria-label="Bursar console">
    <Loading what="the screen" />
  </section>
)

/** The console: nobody has signed in, or somebody has and sees a screen. */
function App() {
  const [session, setSession] = useState<Session>()
  const [notice, setNotice] = useState<string>()
  const [isResuming, setResuming] = useState(mayResume)
  // The sign-in needs none of the screens, so it is drawn before they are evaluated.
  useEffect(() => void loadScreens().catch(() => {}), [])
  useEffect(() => {
    if (!isResuming) return
    resumeSignIn(settings).then(
      // In slices, as the first page is.
      (opened) =>
        startTransition(() => {
          setSession(opened)
          setResuming(false)
        }),
      (error: unknown) => {
        setNotice(messageOf(error))
        setResuming(false)
      },
    )
  }, [isResuming])
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
          if (remembered !== undefined) sessionStorage.setItem(REMEMBERED, remembered)
          startTransition(() => {
            setNotice(undefined)
            setSession(opened)
          })
        }}
      />
    )
  }
  return (
    <SessionProvider value={session} key={session.key}>
      <EndProvider value={end}>
        <CustomerNames>
          <AttentionProvider>
            <Shell onSignOut={() => signOut('You have signed out.')}>
              <ErrorBoundary>
                <Screen />
              </ErrorBoundary>
            </Shell>
          </AttentionProvider>
        </CustomerNames>
      </EndProvider>
    </SessionProvider>
  )
}

const REMEMBERED = 'bursar.sandbox'

/** Otherwise the sign-in is the first thing that is drawn. */
const mayResume = (): boolean => isReturn() || sessionStorage.getItem(REMEMBERED) !== null

/**
 * Goes on after a return from the issuer, or after a reload of a tab that had signed in to the
 * sandbox. Undefined if a person must sign in.
 */
async function resumeSignIn({ issuers, clients }: Settings): Promise<Session | undefined> {
  const returned = await finishSignIn(issuers)
  if (returned !== undefined) return returned
  const remembered = sessionStorage.getItem(REMEMBERED)
  const client = clients.find(({ clientId }) => clientId === remembered)
  if (client === undefined) return undefined
  const { clientId: id, clientSecret: secret, name } = client
  return await signInAsClient({ id, secret, name })
}

/** The screen that the URL names. React's `Suspense` would hold it back for a third of a second. */
function Screen() {
  const { path } = useRoute()
  const { isStaff } = useSession()
  const [{ loaded, error }, setLoading] = useState<LoadingScreens>({ loaded: screens })
  useEffect(() => {
    if (loaded !== undefined) return
    loadScreens().then(
      (loaded) => startTransition(() => setLoading({ loaded })),
      (error: unknown) => setLoading({ error }),
    )
  }, [loaded])
  if (error !== undefined) throw error
  return loaded === undefined ? (
    loadingScreen
  ) : (
    <loaded.OpenedScreen path={path} isStaff={isStaff} />
  )
}

export const app = <App />
