import { type FormEvent, useEffect, useState } from 'react'
import { go, linkTo, useRoute, withParameters } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { recentCustomers, rememberCustomer } from './recent.ts'

/** Whose records the screens show. A person of one customer has no choice. */
export function useCustomer(): string {
  const { customerId } = useSession()
  const { query } = useRoute()
  return customerId ?? query.get('customer') ?? ''
}

export function CustomerSwitch() {
  const session = useSession()
  const { customerId } = session
  const { path, query } = useRoute()
  const customer = useCustomer()
  const [text, setText] = useState(customer)
  useEffect(() => {
    setText(customer)
    if (customer !== '') rememberCustomer(session, customer)
  }, [customer, session])
  if (customerId !== undefined) return <span className="customer">{customerId}</span>
  const choose = (event: FormEvent) => {
    event.preventDefault()
    // A cursor and the reason for a full view belong to the list of one customer.
    const ofOne = { page_cursor: undefined, view: undefined }
    const changed = withParameters(query, { ...ofOne, customer: text.trim() })
    go(linkTo(path, changed))
  }
  return (
    <form onSubmit={choose} className="customer">
      <label>
        Customer{' '}
        <input
          value={text}
          list="customers"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          // What was not entered must not look like the customer that is shown.
          onBlur={() => setText(customer)}
          placeholder="id, then Enter"
        />
      </label>
      <datalist id="customers">
        {recentCustomers(session).map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </form>
  )
}
