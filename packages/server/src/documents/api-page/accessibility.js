/**
 * Adds what screen readers need and Scalar leaves out. Scalar renders parts late and renders them
 * again, so this runs after every change of the page.
 */
export function keepAccessible() {
  let isDue = false
  const observer = new MutationObserver(() => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      addNames()
      correctRoles()
      isolateDialog()
    })
  })
  observer.observe(document.body, {
    ...{ childList: true, subtree: true },
    attributeFilter: ['role', 'aria-label', 'aria-expanded'],
  })
}

function addNames() {
  for (const editor of all('.code-input-lite__editor')) {
    addAttribute(editor, 'aria-expanded', 'false')
    addAttribute(editor, 'aria-label', rowName(editor) ?? editor.dataset.placeholder ?? 'Value')
  }
  for (const button of all('button:not([aria-label], [aria-labelledby], [title])')) {
    const name = buttonName(button)
    if (name !== undefined) button.setAttribute('aria-label', name)
  }
  for (const body of all('.cm-content[role="textbox"]')) addAttribute(body, 'aria-label', 'Body')
  // The name of a button must contain its visible text, so that speech input finds it.
  for (const button of all('.show-more[aria-label]')) {
    const text = button.textContent.trim()
    const name = button.getAttribute('aria-label')
    if (!name.includes(text)) button.setAttribute('aria-label', `${text}: ${name}`)
  }
}

/** The name of a button that shows a picture only. */
function buttonName(button) {
  // Its text is hidden until something was copied.
  if (button.matches('[class*="copy-button"]')) return 'Copy'
  if (button.textContent.trim() !== '') return undefined
  if (button.closest('[class*="scopes-accordion"]')) return 'Show scopes'
  return rowName(button) ?? 'Options'
}

/** The label of the form row that holds an element. */
function rowName(element) {
  const row = element.closest('tr')
  return row?.querySelector('label')?.textContent.trim() || row?.id || undefined
}

/** A button has no role but its own, and cannot control what does not exist. */
function correctRoles() {
  for (const button of all('button[aria-controls]')) {
    const controlled = document.getElementById(button.getAttribute('aria-controls'))
    if (controlled === null) button.removeAttribute('aria-controls')
  }
  for (const button of all('button:is([role="none"], [role="alert"])')) {
    button.removeAttribute('role')
  }
}

/** Nothing behind an open dialog can be reached. */
function isolateDialog() {
  for (const element of all('[inert]')) element.inert = false
  const dialog = all('[role="dialog"][aria-modal="true"]').find((each) => each.checkVisibility())
  const root = document.getElementById('api')
  for (let inside = dialog; inside && inside !== root; inside = inside.parentElement) {
    for (const sibling of inside.parentElement.children) {
      if (sibling !== inside) sibling.inert = true
    }
  }
}

const all = (selector) => [...document.querySelectorAll(selector)]

function addAttribute(element, name, value) {
  if (!element.hasAttribute(name)) element.setAttribute(name, value)
}
