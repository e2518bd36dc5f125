import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react'
import { Icon, type IconName } from '../values/icon.tsx'

export type Choice = {
  readonly key: string
  readonly group: string
  readonly icon: IconName
  readonly text: string
  readonly hint?: string
  /** The keys that do the same, or a figure. */
  readonly end?: ReactNode
  readonly run: () => void
  /** What Tab puts into the box instead. */
  readonly narrow?: () => void
}

type Props = {
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly choices: readonly Choice[]
  readonly note: ReactNode
  readonly footer?: ReactNode
}

/** A box above a list of choices: the arrows move, Enter chooses (WAI-ARIA combobox). */
export function Picker({ label, text, onText, choices, note, footer }: Props) {
  const id = useId()
  const [at, setAt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text starts at the first choice.
  useEffect(() => setAt(0), [text])
  const current = Math.min(at, choices.length - 1)
  const chosen = choices[current]
  useEffect(() => {
    if (chosen !== undefined)
      document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen, current, id])
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((current + step + choices.length) % Math.max(choices.length, 1))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      chosen?.run()
    } else if (event.key === 'Tab' && chosen?.narrow !== undefined) {
      event.preventDefault()
      chosen.narrow()
    }
  }
  return (
    <div className="palette">
      <div className="find-box">
        <Icon name="search" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the dialog was opened for this box.
          autoFocus
          role="combobox"
          aria-expanded
          aria-autocomplete="list"
          aria-controls={id}
          aria-label={label}
          {...(chosen !== undefined && { 'aria-activedescendant': `${id}-${current}` })}
          value={text}
          autoComplete="off"
          spellCheck={false}
          onKeyDown={press}
          onChange={(event) => onText(event.target.value)}
        />
        <kbd>Esc</kbd>
      </div>
      <p className="palette-note" role="status">
        {note}
      </p>
      <div role="listbox" id={id} aria-label={label} className="palette-list">
        {choices.map((choice, index) => (
          <div key={choice.key} role="presentation">
            {choices[index - 1]?.group !== choice.group && (
              <div className="palette-title" role="presentation">
                {choice.group}
              </div>
            )}
            <div
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              className="palette-choice"
              onPointerMove={() => setAt(index)}
              onClick={choice.run}
              onKeyDown={press}
            >
              <Icon name={choice.icon} />
              <span>
                {choice.text} <span className="quiet">{choice.hint}</span>
              </span>
              <span className="keys">{choice.end}</span>
            </div>
          </div>
        ))}
      </div>
      {footer !== undefined && <footer>{footer}</footer>}
    </div>
  )
}
