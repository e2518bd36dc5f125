import { userInfo } from 'node:os'

/** The user of the operating system who runs this process, and the one who ran sudo. */
export const operatingUser = () => ({
  user: userName(),
  sudoUser: process.env.SUDO_USER?.slice(0, 64),
})

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
