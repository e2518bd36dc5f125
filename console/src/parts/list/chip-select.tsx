type Props = {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly choices: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: string) => void
}

/** A chip whose value is chosen in place. A native list opens well on a phone, too. */
export function ChipSelect({ name, label, value, choices, onChange }: Props) {
  const isGiven = value !== '' && name !== 'order'
  return (
    <label className={isGiven ? 'chip on select' : 'chip select'} title={name}>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map(([own, text]) => (
          <option key={own} value={own}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
