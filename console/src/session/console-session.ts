import { createContext, useContext } from 'react'

/** Who has signed in to this tab. Nothing of it is stored: closing the tab forgets it. */
export type Session = {
  readonly name: string
  /** Tells people apart in what the browser keeps for them, such as saved views. */
  readonly key: string
  /** The one customer whose records it may read; undefined for all customers. */
  readonly customerId: string | undefined
  /** Whether it calls the operator's API. Others call `/v2` as a customer's client. */
  readonly isStaff: boolean
  /** Whether a full view needs a reason, which the server's log keeps. */
  readonly isPerson: boolean
  readonly scopes: ReadonlySet<string>
  /** A token that is valid for some time, renewed where it has run out. */
  token(): Promise<string>
  /** Ends the sign-in: no token is given out after that. */
  end(): void
}

/** The sign-in has ended. What the person must do is in the message. */
export class SignInEnded extends Error {
  override readonly name = 'SignInEnded'
}

export const mayRead = ({ isStaff, scopes }: Session, scope: string): boolean =>
  isStaff ? scopes.has('ingest:read_history') : scopes.has(scope)

export const maySeeInFull = ({ isStaff, scopes }: Session): boolean =>
  !isStaff || scopes.has('ingest:read_record')

export const mayExport = ({ isStaff, scopes }: Session): boolean =>
  !isStaff || scopes.has('ingest:export')

/** Whether the timeline of a record may say who saw it. */
export const mayReadAudit = ({ isStaff, scopes }: Session): boolean =>
  isStaff && scopes.has('ingest:read_audit')

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('no one has signed in')
  return session
}

/** Ends the sign-in, with a sentence that tells the person why. */
const EndContext = createContext<(notice: string) => void>(() => {})
export const EndProvider = EndContext.Provider
export const useEnd = (): ((notice: string) => void) => useContext(EndContext)
