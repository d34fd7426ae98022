/** What a key means on a bar. Pure, so that the page's help and the tests can rely on one place. */

export type Intent =
  | { kind: "focus"; step: -1 | 1 }
  | { kind: "shift"; days: -1 | 1 }
  | { kind: "resize"; days: -1 | 1 }
  | { kind: "row"; step: -1 | 1 }
  | { kind: "open" }
  | { kind: "delete" }

export interface Key {
  key: string
  shiftKey: boolean
  altKey: boolean
  ctrlKey: boolean
  metaKey: boolean
}

const STEPS: Record<string, -1 | 1> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }

/** The intent of a key that is pressed on a bar; null for keys that are not ours. */
export function intentOf({ key, shiftKey, altKey, ctrlKey, metaKey }: Key): Intent | null {
  if (ctrlKey || metaKey) return null
  const step = STEPS[key]
  if (step && (key === "ArrowLeft" || key === "ArrowRight")) {
    if (altKey) return null // The browser's own: back and forward.
    return shiftKey ? { kind: "resize", days: step } : { kind: "shift", days: step }
  }
  if (step) {
    if (shiftKey) return null
    return altKey ? { kind: "row", step } : { kind: "focus", step }
  }
  if (shiftKey || altKey) return null
  if (key === "Enter" || key === " ") return { kind: "open" }
  return key === "Delete" || key === "Backspace" ? { kind: "delete" } : null
}
