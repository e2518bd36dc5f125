import { CopyButton } from '../copy.tsx'
import { PageDialog } from '../dialog/dialog.tsx'

type Props = { readonly record: object; readonly isOpen: boolean; readonly onClose: () => void }

/** The record as the API answers it. */
export function JsonDialog({ record, isOpen, onClose }: Props) {
  const text = JSON.stringify(record, null, 2)
  return (
    <PageDialog title="As the API answers it" isOpen={isOpen} onClose={onClose} look="wide">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled by keys. */}
      <pre tabIndex={0}>{text}</pre>
      <div className="acts">
        <CopyButton text={text} label="Copy JSON" />
      </div>
    </PageDialog>
  )
}
