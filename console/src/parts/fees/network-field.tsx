import { settings } from '../../page-settings.ts'
import { wordOf } from '../../values/labels.ts'

/** Chooses one of the networks on which the service quotes fees. */
export function NetworkField(props: {
  readonly label: string
  readonly network: string
  readonly onChange: (network: string) => void
}) {
  const { label, network, onChange } = props
  return (
    <label className="field">
      {label}
      <select className="input" value={network} onChange={(event) => onChange(event.target.value)}>
        {settings.networks.map((name) => (
          <option key={name} value={name}>
            {wordOf(name)}
          </option>
        ))}
      </select>
    </label>
  )
}
