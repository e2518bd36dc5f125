import { useEffect, useState } from 'react'
import { type Customer, readCustomers } from '../../api/read-customers.ts'
import { go, linkTo, useRoute, withParameters } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { counted } from '../attention.tsx'
import { useCustomer, useCustomerName } from '../customer-names.tsx'
import { PageDialog } from '../dialog/dialog.tsx'
import { type Choice, Picker } from '../picker.tsx'
import { useLoad } from '../use-load.ts'
import { rememberCustomer } from './recent.ts'

/** Says whose records are shown, and opens the list of customers (`Shift C`). */
export function CustomerSwitch() {
  const session = useSession()
  const customer = useCustomer()
  const nameOf = useCustomerName()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (customer !== '') rememberCustomer(session, customer)
  }, [customer, session])
  const name = customer === '' ? 'All customers' : nameOf(customer)
  if (session.customerId !== undefined) return <span className="customer">{name}</span>
  return (
    <>
      <Button
        className="button plain customer"
        data-key="C"
        aria-label={`Customer: ${name}`}
        onClick={() => setOpen(true)}
      >
        <Icon name="users" className="narrow-only" />
        <span className="name">{name}</span>
        <Icon name="chev" />
      </Button>
      <PageDialog title="Customer" isOpen={isOpen} onClose={() => setOpen(false)}>
        <CustomerPicker onDone={() => setOpen(false)} />
      </PageDialog>
    </>
  )
}

function CustomerPicker({ onDone }: { readonly onDone: () => void }) {
  const session = useSession()
  const { path, query } = useRoute()
  const [text, setText] = useState('')
  const [loaded] = useLoad(`customers ${text}`, (signal) =>
    readCustomers(session, text.trim() === '' ? {} : { prefix: text.trim() }, signal),
  )
  const choose = (id: string) => {
    onDone()
    // A cursor and the view in full belong to the list of one customer; a record is one customer's.
    const changed = withParameters(query, {
      customer: id,
      page_cursor: undefined,
      view: undefined,
    })
    go(linkTo(path[0] === 'record' ? ['list', path[1] ?? ''] : path, changed))
  }
  const customers = loaded.state === 'loaded' ? loaded.value.customers : []
  const sought = text.trim()
  const isExact = customers.some(({ id }) => id === sought)
  const choices: readonly Choice[] = [
    ...(sought === ''
      ? [choice('all', 'All customers', undefined, undefined, () => choose(''))]
      : []),
    ...customers.map((customer) =>
      choice(customer.id, customer.name ?? customer.id, customer.id, customer, () =>
        choose(customer.id),
      ),
    ),
    ...(sought !== '' && !isExact
      ? [
          choice('as-it-is', `Show “${sought}” as it is written`, undefined, undefined, () =>
            choose(sought),
          ),
        ]
      : []),
  ]
  const note =
    loaded.state === 'loaded'
      ? `${customers.length === 0 ? 'No customer begins with this.' : counted(customers.length, 'customer')}`
      : 'Loading customers…'
  return (
    <Picker
      label="Customer"
      text={text}
      onText={setText}
      choices={choices}
      note={note}
      footer={
        <>
          <span>
            <kbd>↑</kbd> <kbd>↓</kbd> move
          </span>
          <span>
            <kbd>Enter</kbd> choose
          </span>
        </>
      }
    />
  )
}

const choice = (
  key: string,
  text: string,
  hint: string | undefined,
  customer: Customer | undefined,
  run: () => void,
): Choice => ({
  key,
  group: customer === undefined ? 'Any' : 'Customers',
  icon: 'users',
  text,
  ...(hint !== undefined && hint !== text && { hint }),
  ...(customer !== undefined && {
    end: <span className="quiet">{counted(customer.counts['fiat-accounts'] ?? 0, 'account')}</span>,
  }),
  run,
})
