import { createContext, useContext } from 'react'

/** Ends the sign-in, with a sentence that tells the person why. */
const EndContext = createContext<(notice: string) => void>(() => {})
export const EndProvider = EndContext.Provider
export const useEnd = (): ((notice: string) => void) => useContext(EndContext)
