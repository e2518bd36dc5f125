import { type FormEvent, useEffect, useRef, useState } from 'react'
import { go, linkTo } from '../router.ts'
import { useSession } from '../session/console-session.ts'
import { Icon } from '../values/icon.tsx'
import { focusFirstRow } from './rows.ts'

type Props = {
  readonly text: string
  readonly count?: string
  /** Takes the focus when the screen is opened. */
  readonly isFirst?: boolean
}

/** The box that takes any identifier. What is pasted is sought at once; what is typed, at Enter. */
export function SearchBox({ text: given, count, isFirst = false }: Props) {
  const { isStaff } = useSession()
  const [text, setText] = useState(given)
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => setText(given), [given])
  useEffect(() => {
    // A touch keyboard would hide half of the screen.
    if (isFirst && !matchMedia('(pointer: coarse)').matches) box.current?.focus()
  }, [isFirst])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    search(text, true)
  }
  return (
    <search>
      <form onSubmit={submit} className="find-box">
        <Icon name="search" />
        <label htmlFor="find" className="sr">
          Find a record
        </label>
        <input
          id="find"
          ref={box}
          type="search"
          value={text}
          autoComplete="off"
          spellCheck={false}
          aria-describedby="find-help"
          placeholder={
            isStaff
              ? 'Id, memo, address, bank, customer, or the last four digits of an account'
              : 'A complete identifier of one of your records'
          }
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') focusFirstRow()
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
          onChange={(event) => {
            setText(event.target.value)
            const { inputType } = event.nativeEvent as InputEvent
            if (inputType === 'insertFromPaste') search(event.target.value, false)
          }}
        />
        {count !== undefined && <span className="quiet nowrap">{count}</span>}
        <kbd>/</kbd>
      </form>
    </search>
  )
}

/** `open` opens a single hit; a search that was pasted shows it first. */
function search(text: string, opens: boolean): void {
  const sought = text.trim()
  const query: [string, string][] = sought === '' ? [] : [['q', sought]]
  go(linkTo(['find'], opens && sought !== '' ? [...query, ['open', '1']] : query))
}
