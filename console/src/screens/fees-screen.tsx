import { type FormEvent, useEffect, useState } from 'react'
import { Button } from 'react-aria-components'
import { requestJson } from '../api/send-request.ts'
import { messageOf } from '../api-problem.ts'
import { settings } from '../page-settings.ts'
import { useAddressVerdict } from '../parts/record/address-verdict.ts'
import { Members } from '../parts/record/member-list.tsx'
import { Failure, Loading } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { go, linkTo, useRoute, withParameters } from '../router.ts'
import { useSession } from '../session/console-session.ts'
import { Status } from '../values/status.tsx'
import { Time } from '../values/time.tsx'

/** Guaranteed fees: staff look them up, customers ask for them. */
export function Fees() {
  const session = useSession()
  return (
    <section aria-label="Fees">
      <h1>Fees</h1>
      {session.isStaff ? <FeeLookUp /> : <QuoteForm />}
    </section>
  )
}

type FeeState = { readonly id: string; readonly state: string } & Readonly<Record<string, unknown>>

function FeeLookUp() {
  const { path, query } = useRoute()
  const id = query.get('id') ?? ''
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const sought = String(new FormData(event.currentTarget).get('id')).trim()
    go(linkTo(path, withParameters(query, { id: sought })))
  }
  return (
    <>
      <form onSubmit={look} className="row" key={id}>
        <label>
          Fee id <input name="id" defaultValue={id} required autoComplete="off" />
        </label>
        <Button type="submit" className="primary">
          Look up
        </Button>
      </form>
      <p className="hint">
        A fee is quoted in the name of a customer, so sign in as one of its clients to ask for one.
      </p>
      {id !== '' && <OneFee id={id} />}
    </>
  )
}

function OneFee({ id }: { readonly id: string }) {
  const session = useSession()
  const [loaded, retry] = useLoad(`fee ${id}`, (signal) =>
    requestJson<FeeState>(session, `/ingest/v1/fees/${encodeURIComponent(id)}`, { signal }),
  )
  if (loaded.state === 'loading') return <Loading what="the fee" />
  if (loaded.state === 'failed') return <Failure error={loaded.error} retry={retry} />
  return (
    <section className="card" data-id={id} aria-label="Fee">
      <Status value={loaded.value.state} />
      <Members record={loaded.value} />
    </section>
  )
}

type Quoted = {
  readonly id: string
  readonly fee: string
  readonly amount: string
  readonly total: string
  readonly asset: string
  readonly expires_at: string
  readonly destination_address: string
  readonly crypto_network: string
}

function QuoteForm() {
  const session = useSession()
  const [network, setNetwork] = useState('ETHEREUM')
  const [address, setAddress] = useState('')
  const [quoted, setQuoted] = useState<Quoted>()
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)
  const verdict = useAddressVerdict(network, address.trim())
  const ask = async (form: FormData) => {
    setFault('')
    setQuoted(undefined)
    const named = form.get('figure') === 'total' ? 'total' : 'amount'
    const body = {
      asset: String(form.get('asset')),
      crypto_network: network,
      destination_address: address.trim(),
      [named]: String(form.get('value')).trim(),
    }
    const path = '/v2/transfer/fees/crypto-withdrawal'
    setQuoted(await requestJson<Quoted>(session, path, { body }))
  }
  return (
    <>
      <form
        className="quote"
        // A quote is valid only for the figures that were sent.
        onChange={() => setQuoted(undefined)}
        onSubmit={(event) => {
          event.preventDefault()
          setBusy(true)
          ask(new FormData(event.currentTarget))
            .catch((error) => setFault(messageOf(error)))
            .finally(() => setBusy(false))
        }}
      >
        <label>
          Asset <input name="asset" defaultValue="USDC" required autoComplete="off" />
        </label>
        <label>
          Network{' '}
          <select value={network} onChange={(event) => setNetwork(event.target.value)}>
            {settings.networks.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          To address{' '}
          <input
            value={address}
            required
            autoComplete="off"
            spellCheck={false}
            aria-describedby="address-verdict"
            onChange={(event) => setAddress(event.target.value)}
          />
        </label>
        <p id="address-verdict" role="status" className={verdict.isFault ? 'fault' : 'hint'}>
          {verdict.text}
        </p>
        <fieldset>
          <legend>Figure</legend>
          <label className="check">
            <input type="radio" name="figure" value="amount" defaultChecked /> arrives
          </label>
          <label className="check">
            <input type="radio" name="figure" value="total" /> is paid in all
          </label>
          <input name="value" aria-label="Figure" inputMode="decimal" required autoComplete="off" />
        </fieldset>
        <Button type="submit" className="primary" isDisabled={isBusy}>
          Guarantee a fee
        </Button>
      </form>
      {fault !== '' && (
        <p role="alert" className="fault">
          {fault}
        </p>
      )}
      {quoted !== undefined && <QuotedFee quoted={quoted} />}
    </>
  )
}

function QuotedFee({ quoted }: { readonly quoted: Quoted }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const left = Math.ceil((Date.parse(quoted.expires_at) - now) / 1000)
  const { id, fee, amount, total, asset, crypto_network, destination_address } = quoted
  return (
    <section className="card" data-id={id} aria-label="Guaranteed fee">
      <dl className="sum">
        <div>
          <dt>Arrives</dt>
          <dd>
            {amount} {asset}
          </dd>
        </div>
        <div>
          <dt>Fee</dt>
          <dd>
            {fee} {asset}
          </dd>
        </div>
        <div>
          <dt>Total</dt>
          <dd>
            {total} {asset}
          </dd>
        </div>
      </dl>
      <p role="timer">
        {left > 0 ? `Guaranteed for ${minutesOf(left)} more` : 'Expired; ask again'}, until{' '}
        <Time at={quoted.expires_at} />
      </p>
      <p className="hint">
        Fee <code>{id}</code>, to <code>{destination_address}</code> on {crypto_network}
      </p>
    </section>
  )
}

/** `9:05` of 545 seconds. */
const minutesOf = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
