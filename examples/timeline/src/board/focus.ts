/**
 * The keyboard's way through the bars: one of them can be reached by Tab (a roving tabindex, as the ARIA
 * Authoring Practices have it), arrows go on from there. The chart makes, moves and drops elements as it
 * likes, so this is done over after each of its redraws.
 */

export class Focus {
  /** The bar that Tab leads to. */
  private active: string | null = null
  /** Whether the keyboard was on the bar when its element went away. */
  private held = false
  private root: HTMLElement

  constructor(root: HTMLElement) {
    this.root = root
    root.addEventListener("focusin", ({ target }) => {
      const id = idOf(target)
      if (!id) return
      this.active = id
      this.held = true
      this.rove()
    })
    root.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget) this.held = false
    })
    root.addEventListener("pointerdown", ({ target }) => {
      if (!idOf(target)) this.held = false
    })
  }

  /** Takes the keyboard to the bar, now or as soon as it is drawn. */
  take(id: string): void {
    this.active = id
    this.held = true
    this.element(id)?.focus({ preventScroll: true })
    this.rove()
  }

  /** Describes the bars that are drawn, and gives the keyboard back to the one it was on. */
  describe(labels: ReadonlyMap<string, string>): void {
    for (const element of this.elements()) {
      const label = labels.get(idOf(element) ?? "") ?? ""
      if (element.getAttribute("aria-label") === label) continue
      element.setAttribute("role", "button")
      element.setAttribute("aria-label", label)
      element.title = label
    }
    this.rove()
    if (this.held && this.active && document.activeElement === document.body)
      this.element(this.active)?.focus({ preventScroll: true })
  }

  private rove(): void {
    const elements = this.elements()
    const chosen = elements.find((each) => idOf(each) === this.active) ?? elements[0]
    for (const each of elements) each.tabIndex = each === chosen ? 0 : -1
  }

  private element(id: string): HTMLElement | undefined {
    return this.elements().find((each) => idOf(each) === id)
  }

  private elements(): HTMLElement[] {
    return [...this.root.querySelectorAll<HTMLElement>(".vis-item.bar")]
  }
}

/** The id of the bar that the element is, or is in. */
export function idOf(target: EventTarget | null): string | null {
  const bar = target instanceof Element ? target.closest<HTMLElement>(".vis-item.bar") : null
  return bar?.dataset["id"] ?? null
}
