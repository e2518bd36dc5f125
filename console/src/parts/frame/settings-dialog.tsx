import { linkTo, placeOf, useRoute } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { store, useHasNames, useIsUtc, useTheme } from '../../values/preferences.ts'
import { PageDialog } from '../dialog/dialog.tsx'
import { screensOf } from './screens.ts'

type Props = {
  readonly isOpen: boolean
  readonly hasScreens: boolean
  readonly onClose: () => void
  readonly onSignOut: () => void
}

/** How the console shows things to this person, and on a phone every screen. */
export function SettingsDialog({ isOpen, hasScreens, onClose, onSignOut }: Props) {
  const session = useSession()
  const { query } = useRoute()
  const isUtc = useIsUtc()
  const theme = useTheme()
  const hasNames = useHasNames()
  const options = { name: 'Settings', isOpen, onClose }
  return (
    <PageDialog title={hasScreens ? 'More' : options.name} isOpen={isOpen} onClose={onClose}>
      {hasScreens && (
        <nav aria-label="All screens" className="all-screens">
          {screensOf(session).map(({ title, to, icon }) => (
            <a key={title} href={linkTo(to, placeOf(query))} className="nav-item" onClick={onClose}>
              <Icon name={icon} />
              {title}
            </a>
          ))}
        </nav>
      )}
      <Choice
        legend="Times"
        value={isUtc ? 'utc' : 'local'}
        choices={[
          ['utc', 'UTC'],
          ['local', 'Time of this computer'],
        ]}
        onChoice={(zone) => store('zone', zone)}
      />
      <Choice
        legend="Theme"
        value={theme}
        choices={[
          ['system', 'As the system'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ]}
        onChoice={(chosen) => store('theme', chosen)}
      />
      <Choice
        legend="Names of the API beside the labels"
        value={hasNames ? 'on' : 'off'}
        choices={[
          ['off', 'In tooltips'],
          ['on', 'Always'],
        ]}
        onChoice={(chosen) => store('names', chosen)}
      />
      <div className="acts">
        <p className="quiet grow">Signed in as {session.name}</p>
        <Button className="button" onClick={onSignOut}>
          Sign out
        </Button>
      </div>
    </PageDialog>
  )
}

function Choice(props: {
  readonly legend: string
  readonly value: string
  readonly choices: readonly (readonly [value: string, label: string])[]
  readonly onChoice: (value: string) => void
}) {
  return (
    <fieldset className="choice">
      <legend>{props.legend}</legend>
      {props.choices.map(([value, label]) => (
        <label key={value} className="check">
          <input
            type="radio"
            name={props.legend}
            checked={value === props.value}
            onChange={() => props.onChoice(value)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}
