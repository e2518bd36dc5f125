import { type FormEvent, useState } from 'react'
import { Button, FieldError, Form, Input, Label, TextField } from 'react-aria-components'
import { messageOf } from '../api-problem.ts'
import { type SandboxClient, settings } from '../page-settings.ts'
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
      <h1>Bursar console</h1>
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
              className={at === 0 ? 'primary' : ''}
              isDisabled={isBusy}
              onPress={() => void asSandbox(client)}
            >
              Sign in as {client.name}
            </Button>
          ))}
        </section>
      )}
      {settings.issuers.map((issuer) => (
        <Button
          key={issuer.issuer}
          className="primary"
          isDisabled={isBusy}
          onPress={() => void run(() => startSignIn(issuer))}
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
      <Form onSubmit={props.onSubmit}>
        <TextField name="id" isRequired autoComplete="off">
          <Label>Client id</Label>
          <Input />
          <FieldError />
        </TextField>
        <TextField name="secret" type="password" isRequired autoComplete="off">
          <Label>Client secret</Label>
          <Input />
          <FieldError />
        </TextField>
        <p className="hint">Both stay in the memory of this tab.</p>
        <Button type="submit" isDisabled={props.isBusy}>
          Sign in
        </Button>
      </Form>
    </details>
  )
}
