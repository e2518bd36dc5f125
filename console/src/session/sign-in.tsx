import { type FormEvent, useState } from 'react'
import { messageOf } from '../api-problem.ts'
import { type SandboxClient, settings } from '../page-settings.ts'
import { Button } from '../values/button.tsx'
import { Brand } from '../values/icon.tsx'
import { signInAsClient } from './client-sign-in.ts'
import type { Session } from './console-session.ts'
import { startSignIn } from './issuer-sign-in.ts'

type Props = {
  readonly notice: string | undefined
  readonly onSession: (session: Session, remembered?: string) => void
}

/** The first page: the ways to sign in that the server offers. */
export function SignIn({ notice, onSession }: Props) {
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const run = async (work: () => Promise<void>) => {
    setBusy(true)
    setFault(undefined)
    await work().catch((error: unknown) => setFault(messageOf(error)))
    setBusy(false)
  }
  const asSandbox = ({ clientId: id, clientSecret: secret, name }: SandboxClient) =>
    run(async () => onSession(await signInAsClient({ id, secret, name }), id))
  const asClient = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [id, secret] = [String(form.get('id')), String(form.get('secret'))]
    void run(async () => onSession(await signInAsClient({ id, secret })))
  }
  return (
    <main className="welcome">
      <div className="brand">
        <Brand />
        <h1>Bursar console</h1>
      </div>
      {notice !== undefined && <p role="status">{notice}</p>}
      {fault !== undefined && (
        <p role="alert" className="fault">
          {fault}
        </p>
      )}
      {settings.clients.length > 0 && (
        <section aria-label="Sandbox">
          <p>This is a sandbox. One click shows its sample records.</p>
          {settings.clients.map((client, at) => (
            <Button
              key={client.clientId}
              className={at === 0 ? 'button primary' : 'button'}
              disabled={isBusy}
              onClick={() => void asSandbox(client)}
            >
              Sign in as {client.name}
            </Button>
          ))}
        </section>
      )}
      {settings.issuers.map((issuer) => (
        <Button
          key={issuer.issuer}
          className="button primary"
          disabled={isBusy}
          onClick={() => void run(() => startSignIn(issuer))}
        >
          Sign in with {new URL(issuer.issuer).host}
        </Button>
      ))}
      <ClientForm isBusy={isBusy} onSubmit={asClient} />
    </main>
  )
}

function ClientForm(props: {
  readonly isBusy: boolean
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
}) {
  return (
    <details>
      <summary>Sign in with a client id and secret</summary>
      <form onSubmit={props.onSubmit}>
        <label className="field">
          Client id
          <input className="input" name="id" required autoComplete="off" />
        </label>
        <label className="field">
          Client secret
          <input className="input" name="secret" type="password" required autoComplete="off" />
        </label>
        <p className="quiet">Both stay in the memory of this tab.</p>
        <Button type="submit" className="button" disabled={props.isBusy}>
          Sign in
        </Button>
      </form>
    </details>
  )
}
