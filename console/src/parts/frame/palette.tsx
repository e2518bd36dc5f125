import { useEffect, useState } from 'react'
import { find } from '../../api/find-hits.ts'
import { readCustomers } from '../../api/read-customers.ts'
import { kindNamed } from '../../kinds/kinds.ts'
import { go, linkTo, placeOf, useRoute, withParameters } from '../../router.ts'
import { type Session, useSession } from '../../session/console-session.ts'
import { matchText } from '../../values/labels.ts'
import { useCustomerName } from '../customer-names.tsx'
import { PageDialog } from '../dialog/dialog.tsx'
import { hitLink, hitTitle } from '../hits.ts'
import { press } from '../keys.ts'
import { type Choice, Picker } from '../picker.tsx'
import { useLoad } from '../use-load.ts'
import { screensOf } from './screens.ts'

type Props = { readonly isOpen: boolean; readonly onClose: () => void }

/** Every screen, customer and record behind one box (`Ctrl K`). Nothing in it writes. */
export function Palette({ isOpen, onClose }: Props) {
  return (
    <PageDialog title="Search or jump to" look="bare" isOpen={isOpen} onClose={onClose}>
      <Commands onClose={onClose} />
    </PageDialog>
  )
}

const TYPING_MS = 150

/** The text, a moment after the last key. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

function Commands({ onClose }: { readonly onClose: () => void }) {
  const session = useSession()
  const { path, query } = useRoute()
  const nameOf = useCustomerName()
  const [text, setText] = useState('')
  const [customer, setCustomer] = useState(query.get('customer') ?? '')
  const sought = useSettled(text.trim())
  const [found] = useLoad(`palette ${sought}`, (signal) => look(session, sought, signal))
  const run = (work: () => void) => () => {
    onClose()
    work()
  }
  const place = withParameters(new URLSearchParams([...placeOf(query)]), { customer })
  const { hits, customers } = found.state === 'loaded' ? found.value : { hits: [], customers: [] }
  const isLike = (words: string) => words.toLowerCase().includes(text.trim().toLowerCase())
  const choices: readonly Choice[] = [
    ...customers.map(({ id, name = id }) => ({
      key: `customer ${id}`,
      group: 'Customers',
      icon: 'users' as const,
      text: name,
      ...(name !== id && { hint: id }),
      end: <kbd>Tab</kbd>,
      run: run(() => go(linkTo(['list', 'statements'], [['customer', id]]))),
      narrow: () => {
        setCustomer(id)
        setText('')
      },
    })),
    ...hits.map((hit) => ({
      key: `record ${hit.id}`,
      group: 'Records',
      icon: kindNamed(hit.kind)?.icon ?? ('fee' as const),
      text: hitTitle(hit),
      hint: `${matchText(hit.matched)} · ${nameOf(hit.customer_id)}`,
      run: run(() => go(hitLink(hit))),
    })),
    ...screensOf(session)
      .filter(({ title }) => isLike(title))
      .map(({ title, icon, to, key }) => ({
        key: title,
        group: customer === '' ? 'Screens' : nameOf(customer),
        icon,
        text: title,
        end: key === '/' ? <kbd>/</kbd> : <kbd>G {key.toUpperCase()}</kbd>,
        run: run(() => go(linkTo(to, place))),
      })),
    ...actions
      .filter(({ text: words, selector }) => isLike(words) && document.querySelector(selector))
      .map(({ text: words, selector, key, icon }) => ({
        key: words,
        group: 'Actions',
        icon,
        text: words,
        end: <kbd>{key}</kbd>,
        // The page is behind the dialog until this is closed.
        run: run(() => void setTimeout(() => press(selector))),
      })),
    ...(text.trim() === ''
      ? []
      : [
          {
            key: 'find',
            group: 'Actions',
            icon: 'search' as const,
            text: `Find “${text.trim()}”`,
            run: run(() => go(linkTo(['find'], [['q', text.trim()]]))),
          },
        ]),
  ]
  return (
    <Picker
      label="Search or jump to"
      text={text}
      onText={setText}
      choices={choices}
      note={
        path.length > 0 && customer !== ''
          ? `${nameOf(customer)}: its screens, then actions`
          : 'A screen, a customer, or any id, memo or last four digits'
      }
      footer={
        <>
          <span>
            <kbd>↑</kbd> <kbd>↓</kbd> move
          </span>
          <span>
            <kbd>Enter</kbd> open
          </span>
          {session.isStaff && (
            <span>
              <kbd>Tab</kbd> narrow to customer
            </span>
          )}
        </>
      }
    />
  )
}

const actions = [
  { text: 'Show as of…', selector: '[data-key="t"]', key: 'T', icon: 'clock' },
  { text: 'Export this list', selector: '[data-key="e"]', key: 'E', icon: 'save' },
  { text: 'Add a filter', selector: '[data-key="f"]', key: 'F', icon: 'plus' },
  { text: 'Show the record as JSON', selector: '[data-key="."]', key: '.', icon: 'code' },
  { text: 'UTC or local time', selector: '[data-key="u"]', key: 'U', icon: 'clock' },
] as const

async function look(session: Session, text: string, signal: AbortSignal) {
  if (text.length < 2) return { hits: [], customers: [] }
  const customers = session.isStaff
    ? (await readCustomers(session, { prefix: text, limit: '5' }, signal)).customers
    : []
  const { hits } = text.length < 4 ? { hits: [] } : await find(session, text, signal)
  return { customers, hits: hits.slice(0, 6) }
}
