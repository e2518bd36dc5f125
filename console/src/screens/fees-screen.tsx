import { type FormEvent, useState } from 'react'
import { requestJson } from '../api/send-request.ts'
import { useAddressVerdict } from '../parts/address-verdict.ts'
import { CopyButton } from '../parts/copy.tsx'
import { useCustomerName } from '../parts/customer-names.tsx'
import { Fact } from '../parts/facts.tsx'
import { FeeSum, TimeLeft } from '../parts/fees/fee-sum.tsx'
import { NetworkField } from '../parts/fees/network-field.tsx'
import { type FeeTerms, QuoteForm } from '../parts/fees/quote-form.tsx'
import { PageHeading } from '../parts/heading.tsx'
import { Failure, Loading } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { go, linkTo, useRoute, withParameters } from '../router.ts'
import { useSession } from '../session/console-session.ts'
import { Button } from '../values/button.tsx'
import { wordOf } from '../values/labels.ts'
import { ShownTime } from '../values/shown-time.tsx'
import { Status } from '../values/status.tsx'

/** Guaranteed fees: staff look them up, customers ask for them. */
export function Fees() {
  const session = useSession()
  return (
    <section aria-label="Withdrawal fees">
      <div className="page-head">
        <PageHeading title="Withdrawal fees" />
        <p>{session.isStaff ? 'A fee and its withdrawal' : 'Ask for a guaranteed fee'}</p>
      </div>
      <div className="two">
        {session.isStaff ? <FeeLookUp /> : <QuoteForm />}
        <AddressCheck />
      </div>
    </section>
  )
}

type FeeState = Partial<FeeTerms> & {
  readonly id: string
  readonly customer_id: string
  readonly state: string
  readonly asset: string
  readonly crypto_network: string
  readonly created_at: string
  readonly expires_at: string
  readonly withdrawal?: string
  readonly consumed_at?: string
}

function FeeLookUp() {
  const { path, query } = useRoute()
  const id = query.get('id') ?? ''
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const sought = String(new FormData(event.currentTarget).get('id')).trim()
    go(linkTo(path, withParameters(query, { id: sought })))
  }
  return (
    <div className="stack">
      <form onSubmit={look} className="card body fields" key={id}>
        <label className="field">
          Fee id
          <input className="input mono" name="id" defaultValue={id} required autoComplete="off" />
        </label>
        <div className="acts">
          <Button type="submit" className="button primary">
            Look up
          </Button>
        </div>
        <p className="quiet">
          Find takes the reference of a withdrawal, too. A fee is quoted in the name of a customer,
          so sign in as one of its clients to ask for one.
        </p>
      </form>
      {id !== '' && <OneFee id={id} />}
    </div>
  )
}

function OneFee({ id }: { readonly id: string }) {
  const session = useSession()
  const nameOf = useCustomerName()
  const [loaded, retry] = useLoad(`fee ${id}`, (signal) =>
    requestJson<FeeState>(session, `/ingest/v1/fees/${encodeURIComponent(id)}`, { signal }),
  )
  if (loaded.state === 'loading') return <Loading what="the fee" />
  if (loaded.state === 'failed') {
    return (
      <div className="card">
        <Failure error={loaded.error} retry={retry} />
      </div>
    )
  }
  const { value: fee } = loaded
  return (
    <section className="card slip" data-id={id} aria-label="Fee">
      <header>
        <h2>Withdrawal fee</h2>
        <Status value={fee.state} title={`state: ${fee.state}`} />
        <p>
          {nameOf(fee.customer_id)}, {wordOf(fee.crypto_network)}
        </p>
      </header>
      <FeeSum amount={fee.amount} fee={fee.fee} total={fee.total} asset={fee.asset} />
      <dl className="facts body">
        <Fact member="id" label="Fee">
          <span className="mono long">{id}</span> <CopyButton text={id} label="Copy id" isIcon />
        </Fact>
        <Fact member="destination_address">
          <span className="mono long">{fee.destination_address ?? 'erased with its customer'}</span>
        </Fact>
        <Fact member="created_at" label="Quoted">
          <ShownTime at={fee.created_at} form="long" />
        </Fact>
        <Fact member="expires_at">
          <ShownTime at={fee.expires_at} form="long" />{' '}
          {fee.state === 'OPEN' && <TimeLeft until={fee.expires_at} />}
          {fee.state === 'EXPIRED' && (
            <span className="quiet">
              expired <ShownTime at={fee.expires_at} form="age" />
            </span>
          )}
        </Fact>
        <Fact member="withdrawal">{fee.withdrawal ?? 'none yet'}</Fact>
        {fee.consumed_at !== undefined && (
          <Fact member="consumed_at">
            <ShownTime at={fee.consumed_at} form="long" />
          </Fact>
        )}
      </dl>
    </section>
  )
}

/** Says whether an address is one of its network, by the rules that withdrawals are checked with. */
function AddressCheck() {
  const [network, setNetwork] = useState('ETHEREUM')
  const [address, setAddress] = useState('')
  const verdict = useAddressVerdict(network, address.trim())
  return (
    <section className="card" aria-labelledby="check">
      <header>
        <h2 id="check">Is an address valid?</h2>
      </header>
      <div className="body fields">
        <NetworkField label="Network of the address" network={network} onChange={setNetwork} />
        <label className="field">
          Address to check
          <input
            className="input mono"
            value={address}
            autoComplete="off"
            spellCheck={false}
            aria-describedby="check-verdict"
            onChange={(event) => setAddress(event.target.value)}
          />
        </label>
        <p
          id="check-verdict"
          role="status"
          className={verdict.isFault ? 'bad strong' : 'ok strong'}
        >
          {verdict.text}
        </p>
      </div>
    </section>
  )
}
