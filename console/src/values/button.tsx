import type { ComponentProps } from 'react'

/**
 * A button of the browser, which submits no form unless it says so. React Aria's Button adds two
 * dozen hooks to each, and its gestures: a list has thirty buttons, and none needs them.
 */
export const Button = ({ type = 'button', ...props }: ComponentProps<'button'>) => (
  <button type={type} {...props} />
)
