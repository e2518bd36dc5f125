import { useState } from 'react'
import { requestJson } from '../../api/send-request.ts'
import { messageOf } from '../../api-problem.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { wordOf } from '../../values/labels.ts'
import { ShownTime } from '../../values/shown-time.tsx'
import { useAddressVerdict } from '../address-verdict.ts'
import { CopyButton } from '../copy.tsx'
import { Fact } from '../facts.tsx'
import { FeeSum, TimeLeft } from './fee-sum.tsx'
import { NetworkField } from './network-field.tsx'

export type FeeTerms = {
  readonly fee: string
  readonly amount: string
  readonly total: string
  readonly destination_address: string
}

type Quoted = FeeTerms & {
  readonly id: string
  readonly asset: string
  readonly expires_at: string
  readonly crypto_network: string
}

/** Asks for a guaranteed fee in the name of the customer that has signed in. */
export function QuoteForm() {
  const session = useSession()
  const [asset, setAsset] = useState('USDC')
  const [network, setNetwork] = useState('ETHEREUM')
  const [address, setAddress] = useState('')
  const [quoted, setQuoted] = useState<Quoted>()
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)
  const verdict = useAddressVerdict(network, address.trim(), asset.trim())
  const ask = async (form: FormData) => {
    setFault('')
    setQuoted(undefined)
    const named = form.get('figure') === 'total' ? 'total' : 'amount'
    const body = {
      asset: asset.trim(),
      crypto_network: network,
      destination_address: address.trim(),
      [named]: String(form.get('value')).trim(),
    }
    const path = '/v2/transfer/fees/crypto-withdrawal'
    setQuoted(await requestJson<Quoted>(session, path, { body }))
  }
  return (
    <div className="stack">
      <form
        className="card body fields"
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
        <label className="field">
          Asset
          <input
            className="input"
            value={asset}
            required
            autoComplete="off"
            onChange={(event) => setAsset(event.target.value)}
          />
        </label>
        <NetworkField label="Network" network={network} onChange={setNetwork} />
        <label className="field">
          To address
          <input
            className="input mono"
            value={address}
            required
            autoComplete="off"
            spellCheck={false}
            aria-describedby="address-verdict"
            onChange={(event) => setAddress(event.target.value)}
          />
        </label>
        <p id="address-verdict" role="status" className={verdict.isFault ? 'bad' : 'ok'}>
          {verdict.text}
        </p>
        <fieldset className="choice">
          <legend>Figure</legend>
          <label className="check">
            <input type="radio" name="figure" value="amount" defaultChecked /> arrives
          </label>
          <label className="check">
            <input type="radio" name="figure" value="total" /> is paid in all
          </label>
          <input
            className="input"
            name="value"
            aria-label="Figure"
            inputMode="decimal"
            required
            autoComplete="off"
          />
        </fieldset>
        <div className="acts">
          <Button type="submit" className="button primary" disabled={isBusy}>
            Guarantee a fee
          </Button>
        </div>
        {fault !== '' && (
          <p role="alert" className="fault">
            {fault}
          </p>
        )}
      </form>
      {quoted !== undefined && <QuotedFee quoted={quoted} />}
    </div>
  )
}

function QuotedFee({ quoted }: { readonly quoted: Quoted }) {
  const { id, expires_at: until, crypto_network: network, destination_address: to } = quoted
  return (
    <section className="card slip" data-id={id} aria-label="Guaranteed fee">
      <header>
        <h2>Guaranteed fee</h2>
        <p>
          <TimeLeft until={until} />, until <ShownTime at={until} form="long" />
        </p>
      </header>
      <FeeSum {...quoted} />
      <dl className="facts body">
        <Fact member="id" label="Fee">
          <span className="mono long">{id}</span> <CopyButton text={id} label="Copy id" isIcon />
        </Fact>
        <Fact member="destination_address">
          <span className="mono long">{to}</span>
        </Fact>
        <Fact member="crypto_network" label="Network">
          {wordOf(network)}
        </Fact>
      </dl>
    </section>
  )
}
