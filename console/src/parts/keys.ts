/** Whether a key belongs to a field, to a dialog, or to the browser. */
export function isBusy(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement
  const isTyping =
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.isContentEditable ||
    target.role === 'spinbutton'
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey
  return event.defaultPrevented || isTyping || hasModifier || isDialogOpen()
}

const isDialogOpen = (): boolean => document.querySelector('[role="dialog"]') !== null

/** Presses a button of the page, as its key does. It says what the key would do. */
export const press = (selector: string): void =>
  document.querySelector<HTMLElement>(selector)?.click()
